"""`runyard approvals`: list and decide the approvals that runs wait for."""

from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.parsing.commands import Argument, Group, Option
from runyard.cli.clients.open_client import run_with_client
from runyard.cli.parsing.options import Json
from runyard.cli.clients.short_ids import whole_approval_id
from runyard.cli.terminal.output import echo
from runyard.errors import Invalid

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

program = Group("List and decide the approvals that runs wait for.")
ApprovalId = Annotated[
    str,
    Argument(help="The id of an approval, or 8 or more characters of its beginning or end."),
]


@program.command("list")
def list_waits(json: Json = False) -> None:
    """List pending approvals, newest first."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        found = [approval async for approval in client.approvals()]
        from runyard.cli.terminal import tables

        tables.print_json(found) if json else tables.print_approvals(found)

    run_with_client(work)


@program.command()
def approve(
    approval_id: ApprovalId,
    input: Annotated[str | None, Option(help="Call the tool with this input (JSON) instead.")] = None,
    reason: Annotated[str | None, Option(help="The reason.")] = None,
) -> None:
    """Approve; the run continues."""
    edited = None if input is None else _object(input)

    async def work(client: "AnyClient", has_workers: bool) -> None:
        whole = await whole_approval_id(client, approval_id)
        echo((await client.approve(whole, reason=reason, input=edited)).state)

    run_with_client(work)


@program.command()
def reject(
    approval_id: ApprovalId,
    reason: Annotated[str | None, Option(help="The reason; the agent receives it.")] = None,
) -> None:
    """Reject; the run continues without the call."""

    async def work(client: "AnyClient", has_workers: bool) -> None:
        whole = await whole_approval_id(client, approval_id)
        echo((await client.reject(whole, reason=reason)).state)

    run_with_client(work)


def _object(text: str) -> dict[str, Any]:
    import msgspec

    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        raise Invalid("--input must be a JSON object.") from None
