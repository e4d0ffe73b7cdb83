"""`runyard threads`: list, show, search, rename, export and delete conversations with agents."""

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.deleting import delete_with_client
from runyard.cli.clients.open_client import run_with_client
from runyard.cli.clients.short_ids import whole_thread_id
from runyard.cli.parsing.commands import Argument, Group, Option
from runyard.cli.parsing.options import Json, Quiet, ThreadId
from runyard.errors import Invalid

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient
    from runyard.client.conversations import ThreadOrder
    from runyard.client.wire import FoundMessage, ThreadInfo

program = Group("List, show, search, rename, export and delete threads.")
Messages = Annotated[int, Option("--limit", min=1, max=500, help="The largest number of messages to show.")]


@program.command("list")
def list_threads(
    sort: Annotated[
        str, Option(help="What comes first: the newest activity, or created last.", completes="activity created")
    ] = "activity",
    limit: Annotated[int, Option(min=1, help="The largest number of threads to show.")] = 20,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List threads, the newest activity first: the newest run, or the creation if that is later."""
    order = _order(sort)

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results

        found: list[ThreadInfo] = []
        async with aclosing(client.threads(sort=order)) as threads:
            async for thread in threads:
                found.append(thread)
                if len(found) >= limit:
                    break
        ids, table = (thread.thread_id for thread in found), conversation_tables.threads_table(found)
        results.print_list(found, ids, table, "No threads", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


def _order(sort: str) -> "ThreadOrder":
    if sort == "activity":
        return "activity"
    if sort == "created":
        return "created"
    raise Invalid("--sort must be activity or created.")


@program.command()
def show(thread_id: ThreadId, limit: Messages = 50, json: Json = False, quiet: Quiet = False) -> None:
    """Show the newest messages of a thread, oldest first. With --quiet: their ids."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results
        from runyard.cli.terminal.output import echo

        found = await client.thread_messages(await whole_thread_id(client, thread_id), limit)
        if json:
            results.print_json(found)
        elif quiet:
            for message in found:
                echo(message.id)
        else:
            conversation_tables.print_thread_messages(found)

    run_with_client(work, quiet=quiet)


@program.command()
def search(
    text: Annotated[str, Argument(help="Words. Each is the beginning of a word of the message.")],
    limit: Annotated[int, Option(min=1, max=100, help="The largest number of messages to show.")] = 20,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Search the messages of all threads, newest first. With --quiet: the ids of their threads."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results

        found: list[FoundMessage] = []
        async with aclosing(client.search(text, limit)) as messages:
            async for message in messages:
                found.append(message)
                if len(found) >= limit:
                    break
        ids = dict.fromkeys(message.thread_id for message in found)
        table = conversation_tables.found_table(found)
        results.print_list(found, ids, table, "No message has these words", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def rename(
    thread_id: ThreadId,
    title: Annotated[str, Argument(help="The title.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Give a thread a title."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        named = await client.rename_thread(await whole_thread_id(client, thread_id), title)
        print_done(named, f"{named.thread_id} is renamed.", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def export(thread_id: ThreadId, json: Json = False, quiet: Quiet = False) -> None:
    """Print a thread with all its messages: Markdown, or with --json one JSON document."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.output import echo

        whole = await whole_thread_id(client, thread_id)
        echo((await client.export_thread(whole, "json" if json else "markdown")).rstrip())

    run_with_client(work, quiet=quiet)


@program.command()
def delete(thread_id: ThreadId, json: Json = False, quiet: Quiet = False) -> None:
    """Delete a thread with its messages and runs."""

    async def remove(client: "AnyClient") -> str:
        whole = await whole_thread_id(client, thread_id)
        await client.delete_thread(whole)
        return whole

    delete_with_client(remove, json=json, quiet=quiet)
