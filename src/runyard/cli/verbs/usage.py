"""`runyard usage`: runs, tokens and cost by agent or day, counted from the runs themselves."""

from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.open_client import run_with_client
from runyard.cli.parsing.commands import Option
from runyard.cli.parsing.options import Json, OfAgent, Quiet, seconds_of
from runyard.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from runyard.cli.clients.open_client import AnyClient
    from runyard.client.wire import RunInfo, UsageInfo

    Count: TypeAlias = tuple[int, UsageInfo]  # runs, and what they used


def usage(
    since: Annotated[str, Option(help="Only runs that are younger than this: 12h, 7d, 90d.")] = "7d",
    agent: OfAgent = None,
    by: Annotated[str, Option(help="Count by agent or by day (in UTC).", completes="agent day")] = "agent",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count runs, tokens and cost. A run counts once it has ended; child runs count as their parent's.

    With --quiet: the cost of all in US dollars.
    """
    if by not in ("agent", "day"):
        raise Invalid("--by must be agent or day.")
    seconds = seconds_of("--since", since)

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results
        from runyard.cli.terminal.output import echo
        from runyard.cli.verbs.runs import newest

        rows, total = counted(await newest(client.runs(agent=agent, page=100), None, seconds), by)
        if json:
            found = [{by: name, "runs": runs, "usage": spent} for name, (runs, spent) in rows.items()]
            results.print_json({"rows": found, "total": {"runs": total[0], "usage": total[1]}})
        elif quiet:
            echo(f"{total[1].usd:.6f}")
        else:
            conversation_tables.usage_table(by, [*rows.items(), ("total", total)]).echo()

    run_with_client(work, quiet=quiet)


def counted(runs: "Iterable[RunInfo]", by: str) -> "tuple[dict[str, Count], Count]":
    """Return the number of ended runs and their usage by agent or day, sorted, and those of all. A run's own usage is
    known when it has ended, and that of a child run is part of its parent's."""
    from runyard.client.wire import UsageInfo

    found: dict[str, Count] = {}
    total: Count = (0, UsageInfo())
    for run in runs:
        if run.parent_run_id is not None or not run.has_ended:
            continue
        name = (run.agent or "-") if by == "agent" else run.created_at[:10]
        found[name] = _added(found.get(name, (0, UsageInfo())), run.usage)
        total = _added(total, run.usage)
    return {name: found[name] for name in sorted(found)}, total


def _added(so_far: "Count", more: "UsageInfo") -> "Count":
    from runyard.client.wire import UsageInfo

    runs, spent = so_far
    added = UsageInfo(
        spent.input_tokens + more.input_tokens, spent.output_tokens + more.output_tokens, spent.usd + more.usd
    )
    return runs + 1, added
