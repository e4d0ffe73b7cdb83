"""`runyard runs`: list, show, follow, cancel, retry and export runs."""

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.open_client import run_knowing_workers, run_with_client
from runyard.cli.clients.short_ids import whole_run_id, whole_thread_id
from runyard.cli.parsing.commands import Exit, Group, Option
from runyard.cli.parsing.options import Json, OfAgent, Quiet, RunId, Status, seconds_of
from runyard.cli.terminal.output import echo, secho
from runyard.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from runyard.cli.clients.open_client import AnyClient
    from runyard.client import RunInfo

program = Group("List, show, follow, cancel, retry and export runs.")


@program.command("list")
def list_runs(
    status: Status = None,
    agent: OfAgent = None,
    thread: Annotated[str | None, Option(help="Only runs of this thread.", completes="thread")] = None,
    since: Annotated[str | None, Option(help="Only runs that are younger than this: 30m, 12h, 7d.")] = None,
    error: Annotated[str | None, Option(help="Only runs that failed with this error code.")] = None,
    limit: Annotated[int, Option(min=1, help="The largest number of runs to show.")] = 20,
    watch: Annotated[bool, Option("--watch", help="Refresh every two seconds, until Ctrl-C.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List runs, newest first."""
    seconds = None if since is None else seconds_of("--since", since)

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import results, tables

        place = None if thread is None else await whole_thread_id(client, thread)

        async def fetch() -> "list[RunInfo]":
            runs = client.runs(status=status, agent=agent, thread_id=place, error=error, page=min(limit, 100))
            return await newest(runs, limit, seconds)

        def draw(found: "list[RunInfo]") -> None:
            ids = (run.run_id for run in found)
            results.print_list(found, ids, tables.runs_table(found), "No runs", json=json, quiet=quiet)

        if watch:
            from runyard.cli.terminal.watching import watch as refresh

            await refresh(fetch, draw)
        else:
            draw(await fetch())

    run_with_client(work, quiet=quiet)


async def newest(runs: "AsyncGenerator[RunInfo, None]", limit: int | None, seconds: int | None) -> "list[RunInfo]":
    """Return the first runs of a list that is sorted by time, at most so many and so old."""
    from datetime import timedelta

    from runyard.cli.terminal import text

    oldest = None if seconds is None else text.now() - timedelta(seconds=seconds)
    found: list[RunInfo] = []
    async with aclosing(runs):
        async for run in runs:
            if oldest is not None and text.moment(run.created_at) < oldest:
                break
            found.append(run)
            if limit is not None and len(found) >= limit:
                break
    return found


@program.command()
def show(run_id: RunId, json: Json = False, quiet: Quiet = False) -> None:
    """Show one run: question, times, tokens, cost, steps, tool calls, answer, tracebacks. With --quiet: its status."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import results, tables

        whole = await whole_run_id(client, run_id)
        run, state = await client.run(whole), await client.state(whole)
        run = await _row(client, whole) or run
        if json:
            results.print_json({"run": run, "state": state})
        elif quiet:
            echo(str(state.get("status", run.status)))
        else:
            tables.print_run(run, state)

    run_with_client(work, quiet=quiet)


async def _row(client: "AnyClient", run_id: str) -> "RunInfo | None":
    """Return the run as a list has it, with its question and usage: the first one below the next id."""
    from uuid import UUID

    async with aclosing(client.runs(before=str(UUID(int=UUID(run_id).int + 1)), page=1)) as runs:
        async for run in runs:
            return run if run.run_id == run_id else None
    return None


@program.command()
def follow(
    run_id: RunId,
    after: Annotated[int, Option(min=0, help="Start after this event.")] = 0,
    json: Annotated[bool, Option("--json", help="Print every event as a line of JSON.")] = False,
    quiet: Annotated[bool, Option("--quiet", help="Print the answer only.")] = False,
) -> None:
    """Follow a run to its end: its text on stdout, the rest on stderr; exit code 1 unless its status is done."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        whole = await whole_run_id(client, run_id)
        await _follow(client, has_workers, whole, after, json=json, quiet=quiet)

    run_knowing_workers(work, quiet=quiet)


@program.command()
def cancel(run_id: RunId, json: Json = False, quiet: Quiet = False) -> None:
    """Cancel a run. A run that has ended does not change."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        from runyard.cli.terminal.results import print_done

        whole = await whole_run_id(client, run_id)
        status = await client.cancel(whole)
        print_done({"run_id": whole, "status": status}, status, json=json, quiet=quiet)
        if not has_workers and not quiet and status in {"queued", "running", "waiting"}:
            note = (
                "The cancel is stored, but no server is running to stop the run. It stops when you start `runyard dev`."
            )
            secho(note, dim=True, err=True)

    run_knowing_workers(work, quiet=quiet)


@program.command()
def retry(
    run_id: RunId,
    watch: Annotated[bool, Option("--follow", help="Follow the new run.")] = False,
    json: Json = False,
    quiet: Annotated[bool, Option("--quiet", help="Print no notes; with --follow, the answer only.")] = False,
) -> None:
    """Start a new run with the same input; print its id."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        from runyard.cli.terminal.results import print_json

        new = await client.retry(await whole_run_id(client, run_id))
        if watch:
            if not quiet:
                echo(new, err=True)
            await _follow(client, has_workers, new, json=json, quiet=quiet)
        elif json:
            print_json({"run_id": new})
        else:
            echo(new)

    run_knowing_workers(work, quiet=quiet)


@program.command()
def export(
    to: Annotated[
        Path | None, Option("--to", help="The file to write.", show_default="stdout", completes="file")
    ] = None,
    before: Annotated[
        str | None, Option(help="Only runs that are older than this: 30d, 12h.", show_default="all")
    ] = None,
    status: Status = None,
    quiet: Annotated[bool, Option("--quiet", help="Print no progress.")] = False,
) -> None:
    """Write runs that have ended as JSON, one per line: the run and its whole log.

    Newest first, of the API key's owner. Progress is on stderr.
    """
    from runyard.cli.verbs.export import export_runs

    async def work(client: "AnyClient") -> None:
        await export_runs(client, to, before, status, quiet=quiet)

    run_with_client(work, quiet=quiet)


async def _follow(
    client: "AnyClient", has_workers: bool, run_id: str, after: int = 0, *, json: bool = False, quiet: bool = False
) -> None:
    from runyard.cli.terminal.run_printer import run_printer

    if not has_workers and not (await client.run(run_id)).has_ended:
        raise Conflict("The run has not ended and no worker executes it; it continues when you start `runyard dev`.")
    printer = run_printer(json=json, quiet=quiet)
    async with aclosing(client.follow(run_id, after)) as events:
        async for event in events:
            printer.take(event)
    printer.end()
    status = printer.status or (await client.run(run_id)).status
    if status != "done":
        raise Exit(1)
