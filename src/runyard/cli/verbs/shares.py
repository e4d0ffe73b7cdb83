"""`runyard shares`: create, list and revoke links that show a thread to readers without a key."""

from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.open_client import run_with_client
from runyard.cli.clients.short_ids import whole_share_id, whole_thread_id
from runyard.cli.parsing.commands import Argument, Group, Option
from runyard.cli.parsing.options import SHORT, Json, Quiet, ThreadId, settings_with
from runyard.cli.terminal.output import echo, secho

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

program = Group("Create, list and revoke links that show a thread to readers without a key.")


@program.command()
def create(
    thread_id: ThreadId,
    days: Annotated[int, Option(min=1, max=30, help="How many days the link is valid.")] = 7,
    json: Json = False,
    quiet: Annotated[bool, Option("--quiet", help="Print the link only.")] = False,
) -> None:
    """Create a link to the messages that a thread has now, and print it. It cannot be shown again."""

    async def work(client: "AnyClient") -> None:
        import msgspec

        from runyard.cli.terminal.results import print_json

        made = await client.share_thread(await whole_thread_id(client, thread_id), days)
        link = f"{settings_with().url.rstrip('/')}{made.path}"
        if json:
            print_json({**msgspec.to_builtins(made), "link": link})
            return
        if not quiet:
            secho(f"The link is valid until {made.expires_at[:10]} and is not shown again:", err=True)
        echo(link)

    run_with_client(work, quiet=quiet)


@program.command("list")
def list_shares(thread_id: ThreadId, json: Json = False, quiet: Quiet = False) -> None:
    """List the links to a thread that are valid, newest first, without their secrets."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results

        found = await client.shares(await whole_thread_id(client, thread_id))
        ids, table = (share.share_id for share in found), conversation_tables.shares_table(found)
        fields = ("share_id", "created_at", "expires_at")
        rows = [{field: getattr(share, field) for field in fields} for share in found]
        results.print_list(rows, ids, table, "No links", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def revoke(
    thread_id: ThreadId,
    share_id: Annotated[str, Argument(help=f"The id of a link, {SHORT}")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Revoke a link to a thread. Its readers get a page that says so."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        thread = await whole_thread_id(client, thread_id)
        share = await whole_share_id(client, thread, share_id)
        await client.revoke_share(thread, share)
        print_done({"revoked": share}, f"{share} is revoked.", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)
