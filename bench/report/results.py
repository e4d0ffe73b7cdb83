"""The results in `bench/results/*.json`: the machine, the date, and one row per measurement.

A row is one round of one case on one server; what is shown is the median of the rounds, because the machine drifts and
every round measures all servers."""

import statistics
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

FOLDER = Path(__file__).parents[1] / "results"


class Row(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Numbers that a case does not have are None. `client_cpu` is the share of a core that each client took,
    `idle_cpu` the one that the server took while nothing happened. `date`: the day of the measurement, if it was not
    that of the other results."""

    case: str
    server: str
    clients: int = 1
    size: int | None = None
    runs: int = 0
    events: int = 0
    seconds: float = 0.0
    runs_s: float | None = None
    events_s: float | None = None
    first_ms_p50: float | None = None
    first_ms_p99: float | None = None
    delay_ms_p50: float | None = None
    delay_ms_p99: float | None = None
    took_ms_p50: float | None = None
    took_ms_p99: float | None = None
    server_cpu_us: float | None = None
    database_cpu_us: float | None = None
    client_cpu: float | None = None
    rss_mb: float | None = None
    idle_cpu: float | None = None
    buffers: float | None = None
    date: str | None = None


class Results(Struct, frozen=True):
    machine: dict[str, str]
    rows: list[Row]
    missing: dict[str, str] = {}  # what could not be measured, and why

    def rounds(self, case: str, server: str, clients: int | None = None, size: int | None = None) -> list[Row]:
        return [
            row
            for row in self.rows
            if row.case == case
            and row.server == server
            and clients in (None, row.clients)
            and (size is None or size == row.size)
        ]

    def median(
        self, number: str, case: str, server: str, clients: int | None = None, size: int | None = None
    ) -> float | None:
        """The median over the rounds; None if it was not measured."""
        values = [getattr(row, number) for row in self.rounds(case, server, clients, size)]
        known = [value for value in values if value is not None]
        return float(statistics.median(known)) if known else None

    def ratio(self, number: str, case: str, server: str, other: str, clients: int | None = None) -> float | None:
        """How many times the other's number it is, round by round."""
        return ratio(number, self.rounds(case, server, clients), self.rounds(case, other, clients))

    def servers(self, case: str) -> list[str]:
        return list(dict.fromkeys(row.server for row in self.rows if row.case == case))

    def clients(self, case: str) -> list[int]:
        return sorted({row.clients for row in self.rows if row.case == case})


def ratio(number: str, rows: Sequence[Row], others: Sequence[Row]) -> float | None:
    """The median of the ratios of each round: within a round the machine is equally fast for both servers."""
    ratios = [one / two for one, two in _pairs(number, rows, others) if two]
    return float(statistics.median(ratios)) if ratios else None


def difference(number: str, rows: Sequence[Row], others: Sequence[Row]) -> float | None:
    differences = [one - two for one, two in _pairs(number, rows, others)]
    return float(statistics.median(differences)) if differences else None


def _pairs(number: str, rows: Sequence[Row], others: Sequence[Row]) -> list[tuple[float, float]]:
    both = ((getattr(one, number), getattr(two, number)) for one, two in zip(rows, others, strict=False))
    return [(one, two) for one, two in both if one is not None and two is not None]


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value that this share of all values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else None


def save(results: Results, name: str, folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(_rounded(results)), indent=1)
    (folder / f"{name}.json").write_bytes(text + b"\n")


def load(name: str, folder: Path = FOLDER) -> Results | None:
    path = folder / f"{name}.json"
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else None


def _rounded(results: Results) -> object:
    """Five digits: more would be noise that makes every change of the file look large."""

    def short(value: object) -> object:
        match value:
            case float():
                return float(f"{value:.5g}")
            case dict():
                return {key: short(each) for key, each in value.items()}
            case list():
                return [short(each) for each in value]
            case _:
                return value

    return short(msgspec.to_builtins(results))
