"""`runyard approvals`: the questions that runs wait on, and the answers to them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from runyard.cli.connected import run_with_client
from runyard.cli.options import Json
from runyard.cli.short_ids import whole_approval_id
from runyard.errors import Invalid

if TYPE_CHECKING:
    from runyard.client import Client

program = typer.Typer(help="Answer the questions that runs wait on.", no_args_is_help=True, rich_markup_mode=None)
ApprovalId = Annotated[
    str,
    typer.Argument(help="The id of an approval, or 8 or more characters of its beginning or end.", show_default=False),
]


@program.command("list")
def list_approvals(json: Json = False) -> None:
    """List what waits for a person, newest first."""

    async def work(client: "Client", is_live: bool) -> None:
        found = [approval async for approval in client.approvals()]
        from runyard.cli import tables

        tables.print_json(found) if json else tables.print_approvals(found)

    run_with_client(work)


@program.command()
def approve(
    approval_id: ApprovalId,
    input: Annotated[str | None, typer.Option(help="Call the tool with this input (JSON) instead.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why.")] = None,
) -> None:
    """Say yes; the run goes on."""
    edited = None if input is None else _object(input)

    async def work(client: "Client", is_live: bool) -> None:
        whole = await whole_approval_id(client, approval_id)
        typer.echo((await client.approve(whole, reason=reason, input=edited)).state)

    run_with_client(work)


@program.command()
def reject(
    approval_id: ApprovalId,
    reason: Annotated[str | None, typer.Option(help="Why not; the agent is told.")] = None,
) -> None:
    """Say no; the run goes on without it."""

    async def work(client: "Client", is_live: bool) -> None:
        whole = await whole_approval_id(client, approval_id)
        typer.echo((await client.reject(whole, reason=reason)).state)

    run_with_client(work)


def _object(text: str) -> dict[str, Any]:
    import msgspec

    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        raise Invalid("--input must be a JSON object.") from None
