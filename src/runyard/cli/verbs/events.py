"""`runyard events`: deliver events to runs that wait for them."""

from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.parsing.commands import Argument, Group, Option
from runyard.cli.clients.open_client import run_with_client
from runyard.cli.terminal.output import echo
from runyard.errors import Invalid

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

program = Group("Deliver events to runs that wait for them.")


@program.command()
def send(
    name: Annotated[str, Argument(help="The name of the event, such as order.paid.")],
    key: Annotated[str | None, Option(help="Which one, such as the id of an order.")] = None,
    data: Annotated[str | None, Option(help="What the waiting run gets, as JSON.")] = None,
    id: Annotated[
        str | None, Option(help="An id of your own; an id is delivered once.", show_default="a new one")
    ] = None,
) -> None:
    """Deliver an event to the run that waits for it, now or later."""
    value = None if data is None else _json(data)

    async def work(client: "AnyClient", has_workers: bool) -> None:
        is_new = await client.send_event(name, key=key, data=value, event_id=id)
        echo("delivered" if is_new else "An event with this id was delivered before.")

    run_with_client(work)


def _json(text: str) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        raise Invalid("--data must be JSON; put text into quotes: '\"text\"'.") from None
