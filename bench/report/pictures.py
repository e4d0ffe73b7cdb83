"""Which charts are drawn, from which numbers."""

from collections.abc import Callable, Sequence

from bench.report.chart import Bar, Chart, svg
from bench.report.results import Results
from bench.report.targets import Measured

NAMES = {
    "bare": "bare FastAPI, nothing durable",
    "fake": "Runyard, fake commit",
    "sqlite": "Runyard, SQLite FULL",
    "postgres": "Runyard, Postgres",
    "postgres, two processes": "Runyard, Postgres, two processes",
    "postgres, sealed and redacted": "Runyard, Postgres, sealed and redacted",
    "postgres, AI SDK": "Runyard, Postgres, to the AI SDK",
}
COLORS = {"bare": 0, "fake": 1, "sqlite": 2, **{name: 3 for name in NAMES if name.startswith("postgres")}}
OTHER_COLORS = (4, 5, 6, 1)


def pictures(measured: Measured) -> dict[str, str]:
    """SVG by name; without results for it, a chart is left out."""
    drawn = {
        "ratio": _ratio(measured.latest),
        "latency": _latency(measured.latest),
        "jobs": _jobs(measured.latest),
        "capacity": _capacity(measured.latest, "Live conversations that one process holds"),
        "rivals": _rivals(measured.rivals),
        "rivals-capacity": _capacity(measured.rivals, "Live conversations that one process of other servers holds"),
    }
    return {name: svg(chart) for name, chart in drawn.items() if chart is not None}


def _ratio(results: Results) -> Chart | None:
    return _by_clients(
        results,
        "flat",
        ["fake", "sqlite", "postgres"],
        lambda server, clients: _bar(results.ratio("events_s", "flat", server, "bare", clients)),
        title="Events per second, as a multiple of a bare FastAPI stream",
        note="Runs of 200 tiny events over SSE, from the POST on, as fast as possible; committed before they are sent",
        rule="bare FastAPI",
    )


def _latency(results: Results) -> Chart | None:
    return _by_clients(
        results,
        "paced",
        ["bare", "fake", "sqlite", "postgres"],
        lambda server, clients: _bar(
            results.median("delay_ms_p50", "paced", server, clients),
            results.median("delay_ms_p99", "paced", server, clients),
        ),
        title="Latency of a token, in ms: p50 / p99",
        note="From its creation to its arrival at the client, at 10 ms a token; Runyard commits it in between",
        form="{:.1f}",
    )


def _jobs(results: Results) -> Chart | None:
    rates = {NAMES[server]: results.median("runs_s", "noop", server) for server in results.servers("noop")}
    if not rates:
        return None
    return Chart(
        title="Empty runs per second",
        note="Through one process: posted, accepted, run, ended and streamed to the end",
        groups=[f"{results.clients('noop')[0]} in flight"],
        series={name: [_bar(rate)] for name, rate in rates.items()},
        colors={NAMES[server]: color for server, color in COLORS.items()},
        form="{:,.0f}",
    )


def _capacity(results: Results, title: str) -> Chart | None:
    servers = results.servers("capacity")
    held = {NAMES.get(server, server): results.median("size", "capacity", server) for server in servers}
    if not held:
        return None
    others = dict(zip((server for server in servers if server not in NAMES), OTHER_COLORS, strict=False))
    return Chart(
        title=title,
        note="50 tokens a second each, latency of a token below 50 ms (p99); Runyard commits it in between",
        groups=["conversations"],
        series={name: [_bar(count)] for name, count in held.items()},
        colors={NAMES[server]: color for server, color in COLORS.items()} | others,
        form="{:,.0f}",
    )


def _rivals(results: Results) -> Chart | None:
    servers = [server for server in results.servers("flat") if server != "bare"]
    servers.sort(key=lambda server: server != "postgres")
    others = [server for server in servers if server != "postgres"]
    return _by_clients(
        results,
        "flat",
        servers,
        lambda server, clients: _bar(results.ratio("events_s", "flat", server, "bare", clients)),
        title="Other servers at the same work, as a multiple of a bare FastAPI stream",
        note="Events per second; runs of 200 tiny events over SSE, from the POST on",
        rule="bare FastAPI",
        form="{:.2g}",
        more_colors=dict(zip(others, OTHER_COLORS, strict=False)),
    )


def _by_clients(
    results: Results,
    case: str,
    servers: Sequence[str],
    bar: Callable[[str, int], Bar | None],
    *,
    title: str,
    note: str,
    rule: str | None = None,
    form: str = "{:.2f}",
    more_colors: dict[str, int] | None = None,
) -> Chart | None:
    clients = results.clients(case)
    colors = COLORS | (more_colors or {})
    series = {NAMES.get(s, s): [bar(s, count) for count in clients] for s in servers if s in results.servers(case)}
    if not series:
        return None
    return Chart(
        title=title,
        note=note,
        groups=[f"{count} client{'' if count == 1 else 's'}" for count in clients],
        series=series,
        colors={NAMES.get(server, server): colors[server] for server in servers},
        form=form,
        rule=rule,
    )


def _bar(value: float | None, mark: float | None = None) -> Bar | None:
    return None if value is None else Bar(value, mark)
