"""`runyard channels`: list, show and delete channels and DMs; count unread messages and mark them as read."""

from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.deleting import delete_with_client
from runyard.cli.clients.open_client import run_with_client
from runyard.cli.clients.short_ids import find_channel, whole_message_id
from runyard.cli.parsing.commands import Group, Option
from runyard.cli.parsing.options import SHORT, ChannelId, Json, Quiet

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

program = Group("List, show, read and delete channels and DMs.")
Messages = Annotated[int, Option("--limit", min=1, max=100, help="The largest number of messages to show.")]


@program.command("list")
def list_channels(json: Json = False, quiet: Quiet = False) -> None:
    """List channels and then DMs, newest first."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results

        found = [channel async for channel in client.channels()] + [dm async for dm in client.dms()]
        ids, table = (channel.id for channel in found), conversation_tables.channels_table(found)
        results.print_list(found, ids, table, "No channels", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def show(channel_id: ChannelId, limit: Messages = 50, json: Json = False, quiet: Quiet = False) -> None:
    """Show the newest messages of a channel or a DM, oldest first. With --quiet: their ids."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results
        from runyard.cli.terminal.output import echo

        channel = await find_channel(client, channel_id)
        found = await client.channel_messages(channel, limit)
        if json:
            results.print_json({"channel": channel, "messages": found})
        elif quiet:
            for message in found:
                echo(message.id)
        else:
            conversation_tables.print_channel_messages(found)

    run_with_client(work, quiet=quiet)


@program.command()
def unread(
    everything: Annotated[bool, Option("--all", help="Include channels without unread messages.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count the unread messages of channels and DMs, and show how far you have read."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results

        found = [each for each in await client.unread() if each.unread or everything]
        known = {channel.id: channel async for channel in client.channels()} if found else {}
        known |= {dm.id: dm async for dm in client.dms()} if found else {}
        ids, table = (each.id for each in found), conversation_tables.unread_table(found, known)
        results.print_list(found, ids, table, "No unread messages", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command("mark-read")
def mark_read(
    channel_id: ChannelId,
    message: Annotated[
        str | None, Option(help=f"Up to this message: its id, {SHORT}", show_default="the newest message")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Store that you have read a channel or a DM. The position never moves back."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        channel = await find_channel(client, channel_id)
        newest = [each.id for each in await client.channel_messages(channel, 1)] if message is None else []
        upto = newest[-1] if newest else None
        if message is not None:
            upto = await whole_message_id(client, channel, message)
        if upto is not None:
            await client.mark_read(channel, upto)
        text = f"{channel.id} has no messages." if upto is None else f"{channel.id} is read up to {upto}."
        print_done({"channel_id": channel.id, "message_id": upto}, text, json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def delete(channel_id: ChannelId, json: Json = False, quiet: Quiet = False) -> None:
    """Delete a channel or a DM with its messages and runs."""

    async def remove(client: "AnyClient") -> str:
        channel = await find_channel(client, channel_id)
        await client.delete_channel(channel)
        return channel.id

    delete_with_client(remove, json=json, quiet=quiet)
