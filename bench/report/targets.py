"""Every target with its measured value, computed from the results."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from bench.cases.faces import FACES, server_name
from bench.report.results import Results, difference, ratio

Verdict = Literal["excellent", "good", "not met", "not measured"]
EMPTY = Results({}, [])


class Measured(Struct, frozen=True):
    """The existing results of `bench`, `bench.large` and `bench.rivals`."""

    latest: Results = EMPTY
    large: Results = EMPTY
    rivals: Results = EMPTY


class Target(Struct, frozen=True, kw_only=True):
    """`form` says how its numbers are written. Where `good` is above `excellent`, less is better."""

    what: str
    good: float
    excellent: float
    form: str
    value: Callable[[Measured], float | None]

    def verdict(self, measured: Measured) -> Verdict:
        value = self.value(measured)
        if value is None:
            return "not measured"
        sign = 1 if self.excellent > self.good else -1
        if value * sign >= self.excellent * sign:
            return "excellent"
        return "good" if value * sign >= self.good * sign else "not met"

    def written(self, number: float | None) -> str:
        return "" if number is None else self.form.format(number)


def _rate(server: str, other: str, clients: int) -> Callable[[Measured], float | None]:
    return lambda m: m.latest.ratio("events_s", "flat", server, other, clients)


def _face(server: str, face: str) -> Callable[[Measured], float | None]:
    return lambda m: m.latest.ratio("events_s", "faces", server_name(server, face), server_name(server, "threads"))


def _capacity(server: str) -> Callable[[Measured], float | None]:
    def value(m: Measured) -> float | None:
        held, bare = (m.latest.median("size", "capacity", kind) for kind in (server, "bare"))
        return held / bare if held and bare else None

    return value


def _number(number: str, case: str, server: str, clients: int) -> Callable[[Measured], float | None]:
    return lambda m: m.latest.median(number, case, server, clients)


def _cpu_of_paced(server: str) -> Callable[[Measured], float | None]:
    return lambda m: m.latest.ratio("server_cpu_us", "paced", server, "bare", 50)


def _later_than_bare(server: str) -> Callable[[Measured], float | None]:
    return lambda m: difference("first_ms_p50", m.latest.rounds("flat", server, 1), m.latest.rounds("flat", "bare", 1))


def _growth(case: str, small: int, large: int) -> Callable[[Measured], float | None]:
    def value(m: Measured) -> float | None:
        few, many = (m.large.rounds(case, "postgres", size=size) for size in (small, large))
        return ratio("took_ms_p50", many, few)

    return value


def _while_sweeping(case: str, server: str) -> Callable[[Measured], float | None]:
    def value(m: Measured) -> float | None:
        sweeping, quiet = (m.latest.rounds(f"{case}, {mode}", server) for mode in ("sweeping", "quiet"))
        return ratio("took_ms_p50", sweeping, quiet)

    return value


def _replay(server: str) -> Callable[[Measured], float | None]:
    def value(m: Measured) -> float | None:
        rows = m.latest.rounds("replay", server)
        return m.latest.median("events_s", "replay", server) if rows and rows[0].events == 100_000 else None

    return value


def _long_thread(server: str, agent: str) -> Callable[[Measured], float | None]:
    def value(m: Measured) -> float | None:
        new, long = (m.large.rounds(f"long thread, {agent}", server, size=size) for size in (0, 5_000))
        return ratio("server_cpu_us", long, new)

    return value


def _replay_memory(server: str) -> Callable[[Measured], float | None]:
    def value(m: Measured) -> float | None:
        short, long = (m.large.rounds("replay, memory", server, size=size) for size in (10_000, 1_000_000))
        return ratio("rss_mb", long, short)

    return value


def _against(number: str, case: str, other: str, clients: int) -> Callable[[Measured], float | None]:
    return lambda m: m.rivals.ratio(number, case, "postgres", other, clients)


RATIO, TIMES, RATE, MB = "{:.2f}", "{:.1f}x", "{:,.0f}/s", "{:.0f} MB"
MS, MORE_MS, WHOLE_MS = "{:.1f} ms", "{:+.1f} ms", "{:.0f} ms"
NAMES = {"postgres": "Postgres", "sqlite": "SQLite FULL"}

TARGETS = [
    *(
        Target(
            what=f"events/s against bare FastAPI, {NAMES[server]}, {clients} clients",
            good=good,
            excellent=excellent,
            form=RATIO,
            value=_rate(server, "bare", clients),
        )
        for server, clients, good, excellent in (
            ("postgres", 10, 1.3, 2.0),
            ("postgres", 50, 1.7, 2.2),
            ("sqlite", 10, 1.1, 1.5),
            ("sqlite", 50, 1.4, 1.8),
        )
    ),
    *(
        Target(
            what=f"events/s against a fake commit, {NAMES[server]}, {clients} clients",
            good=0.7,
            excellent=0.9,
            form=RATIO,
            value=_rate(server, "fake", clients),
        )
        for server in NAMES
        for clients in (10, 50)
    ),
    Target(
        what="durable empty runs, one process, Postgres",
        good=1_200,
        excellent=2_000,
        form=RATE,
        value=_number("runs_s", "noop", "postgres", 64),
    ),
    *(
        Target(
            what=f"added latency at 10 ms a token, 50 clients, {NAMES[server]}, {which}",
            good=good,
            excellent=excellent,
            form=MS,
            value=_number(f"delay_ms_{which}", "paced", server, 50),
        )
        for server, which, good, excellent in (
            ("postgres", "p50", 4, 2.5),
            ("postgres", "p99", 10, 6),
            ("sqlite", "p50", 8, 4),
            ("sqlite", "p99", 20, 10),
        )
    ),
    *(
        Target(
            what=f"server CPU for an event at 10 ms a token against bare FastAPI, {NAMES[server]}, 50 clients",
            good=1.5,
            excellent=1.2,
            form=RATIO,
            value=_cpu_of_paced(server),
        )
        for server in NAMES
    ),
    *(
        Target(
            what=f"time to the first event over bare, 1 client, {NAMES[server]}",
            good=good,
            excellent=excellent,
            form=MORE_MS,
            value=_later_than_bare(server),
        )
        for server, good, excellent in (("postgres", 4, 2), ("sqlite", 2.5, 1.5))
    ),
    Target(
        what="post on pod A to the first event on pod B, p50",
        good=20,
        excellent=8,
        form=MS,
        value=_number("first_ms_p50", "pods", "postgres", 1),
    ),
    Target(
        what="a token made on pod A until it is read on pod B, p50",
        good=20,
        excellent=8,
        form=MS,
        value=_number("delay_ms_p50", "pods", "postgres", 1),
    ),
    Target(
        what="empty runs with traces over OTLP against none, SQLite FULL",
        good=0.7,
        excellent=0.9,
        form=RATIO,
        value=lambda m: m.latest.ratio("runs_s", "traced", "sqlite, traced", "sqlite"),
    ),
    *(
        Target(
            what=f"conversations that one process holds against bare FastAPI, {NAMES[server]}",
            good=0.7,
            excellent=1.0,
            form=RATIO,
            value=_capacity(server),
        )
        for server in NAMES
    ),
    *(
        Target(
            what=f"events/s of the {face} face against the threads face, {NAMES[server]}",
            good=0.7,
            excellent=0.9,
            form=RATIO,
            value=_face(server, face),
        )
        for server in NAMES
        for face in FACES[1:]
    ),
    Target(
        what="claim p50, 1,000,000 queued runs against 1,000",
        good=1.5,
        excellent=1.1,
        form=RATIO,
        value=_growth("claim", 1_000, 1_000_000),
    ),
    *(
        Target(
            what=f"{case} p50, 5,000,000 events against 10,000",
            good=1.2,
            excellent=1.05,
            form=RATIO,
            value=_growth(case, 10_000, 5_000_000),
        )
        for case in ("append", "tail read")
    ),
    Target(
        what="one event to 10,000 streams, p50",
        good=250,
        excellent=120,
        form=WHOLE_MS,
        value=lambda m: m.large.median("delay_ms_p50", "open streams", "postgres", 10_000),
    ),
    *(
        Target(
            what=f"CPU for the next message after 5,000 messages against a new thread, {what}, {NAMES[server]}",
            good=1.5,
            excellent=1.1,
            form=RATIO,
            value=_long_thread(server, agent),
        )
        for agent, what in (("answering", "agent in Python"), ("thinking", "agent with a model"))
        for server in NAMES
    ),
    *(
        Target(
            what=f"replay of 1,000,000 events against 10,000: peak RSS of the server, {NAMES[server]}",
            good=1.1,
            excellent=1.1,
            form=RATIO,
            value=_replay_memory(server),
        )
        for server in NAMES
    ),
    *(
        Target(
            what=f"{case} p50 while old runs are deleted, against idle, {NAMES[server]}",
            good=1.2,
            excellent=1.05,
            form=RATIO,
            value=_while_sweeping(case, server),
        )
        for server in NAMES
        for case in ("claim", "append")
    ),
    *(
        Target(
            what=f"1,000 followers of one run: peak RSS, {NAMES[server]}",
            good=250,
            excellent=150,
            form=MB,
            value=_number("rss_mb", "followers", server, 1_000),
        )
        for server in NAMES
    ),
    *(
        Target(
            what=f"replay of 100,000 events to one client, {NAMES[server]}",
            good=100_000,
            excellent=300_000,
            form=RATE,
            value=_replay(server),
        )
        for server in NAMES
    ),
    Target(
        what="200-event runs/s against langgraph dev, 50 clients",
        good=12,
        excellent=25,
        form=TIMES,
        value=_against("runs_s", "flat", "langgraph dev", 50),
    ),
    Target(
        what="durable empty runs against DBOS",
        good=5,
        excellent=10,
        form=TIMES,
        value=_against("runs_s", "noop", "DBOS streams", 64),
    ),
]
