"""`runyard runs`: list, show, follow, cancel, retry and export runs."""

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from runyard.cli.parsing.commands import Argument, Exit, Group, Option
from runyard.cli.clients.open_client import run_with_client
from runyard.cli.parsing.options import Json
from runyard.cli.clients.short_ids import whole_run_id
from runyard.cli.terminal.output import echo, secho
from runyard.errors import Conflict

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient
    from runyard.client import RunInfo

program = Group("List, show, follow, cancel, retry and export runs.")
RunId = Annotated[
    str,
    Argument(help="The id of a run, or 8 or more characters of its beginning or end."),
]


@program.command("list")
def list_runs(
    status: Annotated[str | None, Option(help="Only runs with this status.")] = None,
    agent: Annotated[str | None, Option(help="Only runs of this agent.")] = None,
    thread: Annotated[str | None, Option(help="Only runs of this thread.")] = None,
    limit: Annotated[int, Option(min=1, help="The largest number of runs to show.")] = 20,
    json: Json = False,
) -> None:
    """List runs, newest first."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        found: list[RunInfo] = []
        async with aclosing(client.runs(status=status, agent=agent, thread_id=thread, page=min(limit, 100))) as runs:
            async for run in runs:
                found.append(run)
                if len(found) >= limit:
                    break
        from runyard.cli.terminal import tables

        tables.print_json(found) if json else tables.print_runs(found)

    run_with_client(work)


@program.command()
def show(run_id: RunId, json: Json = False) -> None:
    """Show one run: times, steps, tool calls, answer and tracebacks."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        whole = await whole_run_id(client, run_id)
        run, state = await client.run(whole), await client.state(whole)
        from runyard.cli.terminal import tables

        tables.print_json({"run": run, "state": state}) if json else tables.print_run(run, state)

    run_with_client(work)


@program.command()
def follow(
    run_id: RunId,
    after: Annotated[int, Option(min=0, help="Start after this event.")] = 0,
) -> None:
    """Follow a run to its end: its text on stdout, the rest on stderr; exit code 1 unless its status is done."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        await _follow(client, has_workers, await whole_run_id(client, run_id), after)

    run_with_client(work)


@program.command()
def cancel(run_id: RunId) -> None:
    """Cancel a run. A run that has ended does not change."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        status = await client.cancel(await whole_run_id(client, run_id))
        echo(status)
        if not has_workers and status in {"queued", "running", "waiting"}:
            note = (
                "The cancel is stored, but no server is running to stop the run. It stops when you start `runyard dev`."
            )
            secho(note, dim=True, err=True)

    run_with_client(work)


@program.command()
def retry(
    run_id: RunId,
    watch: Annotated[bool, Option("--follow", help="Follow the new run.")] = False,
) -> None:
    """Start a new run with the same input; print its id."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        new = await client.retry(await whole_run_id(client, run_id))
        echo(new, err=watch)
        if watch:
            await _follow(client, has_workers, new)

    run_with_client(work)


@program.command()
def export(
    to: Annotated[Path | None, Option("--to", help="The file to write.", show_default="stdout")] = None,
    before: Annotated[
        str | None, Option(help="Only runs that are older than this: 30d, 12h.", show_default="all")
    ] = None,
    status: Annotated[str | None, Option(help="Only runs with this status.")] = None,
) -> None:
    """Write runs that have ended as JSON, one per line: the run and its whole log.

    Newest first, of the API key's owner. Progress is on stderr.
    """
    from runyard.cli.verbs.export import export_runs

    async def work(client: "AnyClient", has_workers: bool) -> None:
        await export_runs(client, to, before, status)

    run_with_client(work)


async def _follow(client: "AnyClient", has_workers: bool, run_id: str, after: int = 0) -> None:
    from runyard.cli.terminal.run_printer import RunPrinter

    if not has_workers and not (await client.run(run_id)).has_ended:
        raise Conflict("The run has not ended and no worker executes it; it continues when you start `runyard dev`.")
    printer = RunPrinter()
    async with aclosing(client.follow(run_id, after)) as events:
        async for event in events:
            printer.take(event)
    status = printer.status or (await client.run(run_id)).status
    if status != "done":
        raise Exit(1)
