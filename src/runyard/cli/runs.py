"""`runyard runs`: look at runs, follow them, stop them, repeat them."""

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runyard.cli.connected import run_with_client
from runyard.cli.options import Json
from runyard.cli.short_ids import whole_run_id
from runyard.errors import Conflict

if TYPE_CHECKING:
    from runyard.client import Client, RunInfo

program = typer.Typer(
    help="Look at runs, follow them, stop them, repeat them.", no_args_is_help=True, rich_markup_mode=None
)
RunId = Annotated[
    str,
    typer.Argument(help="The id of a run, or 8 or more characters of its beginning or end.", show_default=False),
]


@program.command("list")
def list_runs(
    status: Annotated[str | None, typer.Option(help="Only runs with this status.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only runs of this agent.")] = None,
    thread: Annotated[str | None, typer.Option(help="Only runs of this thread.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many to show at most.")] = 20,
    json: Json = False,
) -> None:
    """List runs, newest first."""

    async def work(client: "Client", is_live: bool) -> None:
        found: list[RunInfo] = []
        async with aclosing(client.runs(status=status, agent=agent, thread_id=thread, page=min(limit, 100))) as runs:
            async for run in runs:
                found.append(run)
                if len(found) >= limit:
                    break
        from runyard.cli import tables

        tables.print_json(found) if json else tables.print_runs(found)

    run_with_client(work)


@program.command()
def show(run_id: RunId, json: Json = False) -> None:
    """Show one run: its times, what it did, its answer and the tracebacks of what its agent raised."""

    async def work(client: "Client", is_live: bool) -> None:
        whole = await whole_run_id(client, run_id)
        run, state = await client.run(whole), await client.state(whole)
        from runyard.cli import tables

        tables.print_json({"run": run, "state": state}) if json else tables.print_run(run, state)

    run_with_client(work)


@program.command()
def follow(
    run_id: RunId,
    after: Annotated[int, typer.Option(min=0, help="Begin after this event.")] = 0,
) -> None:
    """Follow a run to its end: its text on stdout, the rest on stderr; exit code 1 unless it is done."""

    async def work(client: "Client", is_live: bool) -> None:
        await _follow(client, is_live, await whole_run_id(client, run_id), after)

    run_with_client(work)


@program.command()
def cancel(run_id: RunId) -> None:
    """Stop a run; one that has ended stays as it is."""

    async def work(client: "Client", is_live: bool) -> None:
        status = await client.cancel(await whole_run_id(client, run_id))
        typer.echo(status)
        if not is_live and status in {"queued", "running", "waiting"}:
            note = "The cancel is stored, but no server is here to stop the run. It stops when you start `runyard dev`."
            typer.secho(note, dim=True, err=True)

    run_with_client(work)


@program.command()
def retry(
    run_id: RunId,
    watch: Annotated[bool, typer.Option("--follow", help="Follow the new run.")] = False,
) -> None:
    """Run the same question again, as a new run; print its id."""

    async def work(client: "Client", is_live: bool) -> None:
        new = await client.retry(await whole_run_id(client, run_id))
        typer.echo(new, err=watch)
        if watch:
            await _follow(client, is_live, new)

    run_with_client(work)


@program.command()
def export(
    to: Annotated[Path | None, typer.Option("--to", help="The file to write.", show_default="stdout")] = None,
    before: Annotated[
        str | None, typer.Option(help="Only runs made so long ago: 30d, 12h.", show_default="all")
    ] = None,
    status: Annotated[str | None, typer.Option(help="Only runs with this status.")] = None,
) -> None:
    """Write runs that have ended as JSON, one to a line: the run, and its whole log.

    Newest first, of the owner of the API key. How far it is, is said on stderr.
    """
    from runyard.cli.exporting import export_runs

    async def work(client: "Client", is_live: bool) -> None:
        await export_runs(client, to, before, status)

    run_with_client(work)


async def _follow(client: "Client", is_live: bool, run_id: str, after: int = 0) -> None:
    from runyard.cli.answer import Answer

    if not is_live and not (await client.run(run_id)).has_ended:
        raise Conflict("The run has not ended and nobody works on it; it goes on when you start `runyard dev`.")
    answer = Answer()
    async with aclosing(client.follow(run_id, after)) as events:
        async for event in events:
            answer.take(event)
    status = answer.status or (await client.run(run_id)).status
    if status != "done":
        raise typer.Exit(1)
