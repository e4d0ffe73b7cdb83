"""`runyard feedback`: give, show and delete what a person thinks of a run's answer."""

from typing import TYPE_CHECKING, Annotated, Literal

from runyard.cli.clients.deleting import delete_with_client
from runyard.cli.clients.open_client import run_with_client
from runyard.cli.clients.short_ids import whole_run_id
from runyard.cli.parsing.commands import Argument, Group, Option
from runyard.cli.parsing.options import Json, Quiet, RunId
from runyard.errors import Invalid

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

program = Group("Give, show and delete feedback on the answers of runs.")
Value = Annotated[str, Argument(help="up for a good answer, down for a bad one.", completes="up down")]


@program.command()
def give(
    run_id: RunId,
    value: Value,
    comment: Annotated[str | None, Option(help="The reason, up to 4,000 characters.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say whether a run's answer was good. Replaces earlier feedback and its comment."""
    thumb = _thumb(value)

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        whole = await whole_run_id(client, run_id)
        given = await client.give_feedback(whole, thumb, comment)
        print_done(given, f"{whole} has the feedback {given.value}.", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def show(run_id: RunId, json: Json = False, quiet: Quiet = False) -> None:
    """Show the feedback on a run. With --quiet: up, down or nothing."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results
        from runyard.cli.terminal.output import echo

        found = await client.feedback(await whole_run_id(client, run_id))
        if json:
            results.print_json(found)
        elif quiet:
            echo(found.value if found else "", nl=found is not None)
        else:
            conversation_tables.print_feedback(found)

    run_with_client(work, quiet=quiet)


@program.command()
def delete(run_id: RunId, json: Json = False, quiet: Quiet = False) -> None:
    """Delete the feedback on a run, if there is any."""

    async def remove(client: "AnyClient") -> str:
        whole = await whole_run_id(client, run_id)
        await client.delete_feedback(whole)
        return whole

    delete_with_client(remove, "has no feedback", json=json, quiet=quiet)


def _thumb(value: str) -> Literal["up", "down"]:
    if value == "up":
        return "up"
    if value == "down":
        return "down"
    raise Invalid(f"Feedback is up or down, not {value}.")
