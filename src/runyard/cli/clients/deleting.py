"""Delete something and print its id, for all verbs that delete."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from runyard.cli.clients.open_client import run_with_client

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient


def delete_with_client(
    delete: "Callable[[AnyClient], Awaitable[str]]", outcome: str = "is deleted", *, json: bool, quiet: bool
) -> None:
    """Open a client, call `delete`, and print the id that it returns with the outcome."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        deleted = await delete(client)
        print_done({"deleted": deleted}, f"{deleted} {outcome}.", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)
