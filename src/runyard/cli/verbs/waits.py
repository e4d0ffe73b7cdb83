"""`runyard waits`: list, show and answer what runs wait for."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.clients.open_client import run_with_client
from runyard.cli.clients.short_ids import whole_run_id, whole_wait_id
from runyard.cli.parsing.commands import Argument, Exit, Group, Option
from runyard.cli.parsing.options import Json, Quiet, WaitId, json_of
from runyard.errors import Invalid

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient
    from runyard.client import WaitInfo

program = Group("List and answer what runs wait for: questions and client tools.")


@program.command("list")
def list_waits(
    run: Annotated[str | None, Option(help="Only waits of this run.", completes="run")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List what runs wait for from people and clients, newest first."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import results, tables

        found = [wait async for wait in client.waits(None if run is None else await whole_run_id(client, run))]
        ids, if_empty = (wait.wait_id for wait in found), "No run waits for a person or a client"
        results.print_list(found, ids, tables.waits_table(found), if_empty, json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def show(wait_id: WaitId, json: Json = False, quiet: Quiet = False) -> None:
    """Show a wait: the question, the input of the client tool, the schema of the answer. With --quiet: its state."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import tables

        found = await client.wait(await whole_wait_id(client, wait_id))
        tables.print_wait(found, json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def answer(
    wait_id: WaitId,
    value: Annotated[str | None, Argument(help="The answer as JSON.", show_default="a form, in a terminal")] = None,
    error: Annotated[str | None, Option(help="Report that the client tool failed, with this message.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Answer a question or a client tool; the run continues. Approvals: see `runyard approvals`."""
    if value is not None and error is not None:
        raise Invalid("Give a value or --error, not both.")
    given = None if value is None else json_of("The answer", value)

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        wait = await client.wait(await whole_wait_id(client, wait_id))
        if wait.is_approval:
            raise Invalid(f"This is an approval. Decide it with `runyard approvals approve {wait.wait_id}`, or reject.")
        if error is not None:
            done = await client.fail_wait(wait.wait_id, error)
        else:
            done = await client.answer_wait(wait.wait_id, given if value is not None else _filled_in(wait))
        print_done(done, done.state, json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


def _filled_in(wait: "WaitInfo") -> Any:
    """Ask for the answer in the terminal."""
    from runyard.cli.terminal.ask_for_values import ask_for_value
    from runyard.cli.terminal.forms import FormEnded

    if not sys.stdin.isatty():
        raise Invalid("Give the answer as JSON: runyard waits answer ID VALUE.")
    try:
        asked = {"kind": wait.kind, "name": wait.name, "prompt": wait.prompt, "input": wait.input}
        return ask_for_value({**asked, "schema": wait.answer_schema})
    except FormEnded:
        raise Exit(1) from None
