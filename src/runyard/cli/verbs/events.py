"""`runyard events`: deliver events to runs that wait for them."""

from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.open_client import run_with_client
from runyard.cli.parsing.commands import Argument, Group, Option
from runyard.cli.parsing.options import Json, Quiet, json_of

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

program = Group("Deliver events to runs that wait for them.")


@program.command()
def send(
    name: Annotated[str, Argument(help="The name of the event, such as order.paid.")],
    key: Annotated[str | None, Option(help="Which one, such as the id of an order.")] = None,
    data: Annotated[str | None, Option(help="What the waiting run gets, as JSON.")] = None,
    id: Annotated[
        str | None, Option(help="The id of the event. An id is delivered once.", show_default="a new one")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Deliver an event to the run that waits for it, now or later."""
    value = None if data is None else json_of("--data", data)

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        is_new = await client.send_event(name, key=key, data=value, event_id=id)
        said = "delivered" if is_new else "An event with this id was delivered before."
        print_done({"delivered": is_new}, said, json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)
