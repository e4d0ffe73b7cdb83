"""`runyard approvals`: list, show and decide the approvals that runs wait for."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.clients.open_client import run_with_client
from runyard.cli.clients.short_ids import whole_approval_id
from runyard.cli.parsing.commands import Exit, Group, Option
from runyard.cli.parsing.options import ApprovalId, Json, Quiet
from runyard.errors import Invalid, ScopeMissing

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient
    from runyard.client import WaitInfo

program = Group("List, show and decide the approvals that runs wait for.")


@program.command("list")
def list_approvals(json: Json = False, quiet: Quiet = False) -> None:
    """List pending approvals, newest first, with the beginning of their inputs; `show` has the whole input."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import results, tables

        found = [approval async for approval in client.approvals()]
        ids, table = (approval.approval_id for approval in found), tables.approvals_table(found)
        results.print_list(found, ids, table, "No pending approvals", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def show(approval_id: ApprovalId, json: Json = False, quiet: Quiet = False) -> None:
    """Show an approval: its agent and message, the tool and the whole input. With --quiet: its state."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import tables

        found = await client.wait(await whole_approval_id(client, approval_id))
        tables.print_wait(found, json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def approve(
    approval_id: ApprovalId,
    input: Annotated[str | None, Option(help="Call the tool with this input (JSON) instead.")] = None,
    reason: Annotated[str | None, Option(help="The reason.")] = None,
    yes: Annotated[bool, Option("--yes", help="Do not ask once more if the call may happen twice.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Approve; the run continues. If the call may have happened before, you are asked once more."""
    edited = None if input is None else _object(input)

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        whole = await whole_approval_id(client, approval_id)
        if not yes:
            _confirm(await _looked_up(client, whole))
        done = await client.approve(whole, reason=reason, input=edited)
        print_done(done, done.state, json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def reject(
    approval_id: ApprovalId,
    reason: Annotated[str | None, Option(help="The reason; the agent receives it.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Reject; the run continues without the call."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        done = await client.reject(await whole_approval_id(client, approval_id), reason=reason)
        print_done(done, done.state, json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


async def _looked_up(client: "AnyClient", approval_id: str) -> "WaitInfo":
    """Return the approval, to see whether its call may happen twice. Raises ScopeMissing if the key cannot read it."""
    try:
        return await client.wait(approval_id)
    except ScopeMissing:
        raise ScopeMissing(
            "This API key lacks the scope `read`, so it is not known whether the call may happen twice. "
            "Give --yes to approve without this check, or use a key with the scope `read`."
        ) from None


def _confirm(approval: "WaitInfo") -> None:
    """Ask once more, in a terminal, if the call may have happened before. Raises Exit or Invalid if it is not
    confirmed."""
    from runyard.cli.terminal.confirming import UNKNOWN_OUTCOME, confirms_repetition
    from runyard.cli.terminal.output import echo

    if approval.kind != UNKNOWN_OUTCOME or approval.state != "pending":
        return
    if not sys.stdin.isatty():
        from runyard.cli.terminal.text import revealed

        raise Invalid(
            f"The worker died while {revealed(approval.name)} ran, so it may happen twice. Give --yes to call it again."
        )
    if not confirms_repetition(approval.name):
        echo("Nothing is decided.", err=True)
        raise Exit(1)


def _object(text: str) -> dict[str, Any]:
    import msgspec

    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        raise Invalid("--input must be a JSON object.") from None
