"""Results as sheets, one for each case: the medians of the rounds, as text in rows and columns. Shown in the terminal
(`table.py`) and written into the docs (`report.py`)."""

from collections.abc import Iterator

from msgspec import Struct

from bench.report.results import Results

# CPU is per event, or per run where a run has no events.
COLUMNS = {
    "runs/s": ["runs_s"],
    "events/s": ["events_s"],
    "first event p50 / p99 ms": ["first_ms_p50", "first_ms_p99"],
    "on the way p50 / p99 ms": ["delay_ms_p50", "delay_ms_p99"],
    "took p50 / p99 ms": ["took_ms_p50", "took_ms_p99"],
    "buffers": ["buffers"],
    "server CPU µs": ["server_cpu_us"],
    "database CPU µs": ["database_cpu_us"],
    "client CPU %": ["client_cpu"],
    "idle CPU %": ["idle_cpu"],
    "RSS MB": ["rss_mb"],
}
SHARES = ("client_cpu", "idle_cpu")
TITLES = {
    "flat": "As fast as possible",
    "paced": "At 10 ms a token",
    "noop": "Empty runs",
    "followers": "Many followers of one run",
    "followers, decided": "Many followers of a run that waited for a decision",
    "replay": "Replay of a long log, from the database",
    "replay, warm": "Replay of a long log, from memory",
    "capacity": "Conversations at 50 tokens a second that one process holds, p99 below 50 ms",
    "faces": "The same runs in the protocols of third-party clients",
    "pods": "Posted on one pod, followed on another",
    "traced": "Empty runs, with and without traces",
    "claim": "Claiming a run, by the number of queued runs",
    "append": "Appending an event, by the number of stored events",
    "tail read": "Reading the tail of a live run, by the number of stored events",
    "old read": "Reading the tail of an old run, by the number of stored events",
    "waiting": "Many runs wait for a person, the server restarts, and all are answered",
    "long thread, answering": "The next message of a thread, by its messages; an agent in Python",
    "long thread, thinking": "The next message of a thread, by its messages; an agent with a model",
    "replay, memory": "Replay of a long log, from the database: peak memory",
    "open streams": "Open streams, and one event to all of them",
}


class Sheet(Struct, frozen=True):
    title: str
    header: list[str]
    rows: list[list[str]]


def sheets(results: Results) -> Iterator[Sheet]:
    for case in dict.fromkeys(row.case for row in results.rows):
        yield sheet(results, case)


def sheet(results: Results, case: str) -> Sheet:
    """Columns without values are left out."""
    rows = [row for row in results.rows if row.case == case]
    shown = {
        title: numbers
        for title, numbers in COLUMNS.items()
        if any(getattr(row, numbers[0]) is not None for row in rows)
    }
    has_bare = case == "flat"
    lines = []
    for clients, size, server in dict.fromkeys((row.clients, row.size, row.server) for row in rows):
        ratio = results.ratio("events_s", case, server, "bare", clients)
        cells = [
            " / ".join(cell(number, results.median(number, case, server, clients, size)) for number in numbers)
            for numbers in shown.values()
        ]
        compared = [f"{ratio:.2f}" if ratio else ""] if has_bare else []
        lines.append([f"{clients if size is None else size:,}", server, *compared, *cells])
    first = "size" if any(row.size is not None for row in rows) else "at once"
    return Sheet(TITLES.get(case, case), [first, "server", *(["to bare"] if has_bare else []), *shown], lines)


def cell(number: str, value: float | None) -> str:
    if value is None:
        return ""
    if number in SHARES:
        return f"{value * 100:.0f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 1 else f"{value:.1f}"
