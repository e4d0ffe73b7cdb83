"""`runyard memory`: what an agent remembers. Blocks are in every prompt and have a label; passages are searched."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.deleting import delete_with_client
from runyard.cli.clients.open_client import run_with_client
from runyard.cli.clients.short_ids import SHORTEST, find_passage, whole_passage_id
from runyard.cli.parsing.commands import Argument, Group, Option
from runyard.cli.parsing.options import SHORT, AgentName, Json, Quiet
from runyard.cli.terminal.output import echo
from runyard.errors import NotFound

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient
    from runyard.client.wire import BlockInfo, PassageInfo

program = Group("List, show and delete what agents remember.")
Entry = Annotated[str, Argument(help=f"The label of a block, or the id of a passage, {SHORT}")]


@program.command("list")
def list_memory(
    agent: AgentName,
    query: Annotated[str | None, Option(help="Only passages with these words, the best match first.")] = None,
    limit: Annotated[int, Option(min=1, max=100, help="The largest number of passages to show.")] = 20,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the blocks of an agent, then its passages, newest first."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results

        blocks = [] if query is not None else await client.memory_blocks(agent)
        passages = await client.passages(agent, query, limit)
        if json:
            results.print_json({"blocks": blocks, "passages": passages})
            return
        if quiet:
            for each in [*(block.label for block in blocks), *(passage.id for passage in passages)]:
                echo(each)
            return
        conversation_tables.memory_table(agent, blocks, passages).echo(f"{agent} remembers nothing")

    run_with_client(work, quiet=quiet)


@program.command()
def show(agent: AgentName, entry: Entry, json: Json = False, quiet: Quiet = False) -> None:
    """Show the whole text of a block or a passage."""

    async def work(client: "AnyClient") -> None:
        import sys

        from runyard.cli.terminal.results import print_json
        from runyard.cli.terminal.text import plain
        from runyard.cli.terminal.wrapping import filled

        found = await _find(client, agent, entry)
        if json:
            print_json(found)
        else:
            echo(filled(plain(found.content), sys.stdout, ""))

    run_with_client(work, quiet=quiet)


async def _find(client: "AnyClient", agent: str, entry: str) -> "BlockInfo | PassageInfo":
    blocks = {block.label: block for block in await client.memory_blocks(agent)}
    if entry in blocks:
        return blocks[entry]
    with _finding(agent, entry):
        return await find_passage(client, agent, entry)


@contextmanager
def _finding(agent: str, entry: str) -> Iterator[None]:
    """Look for a passage, after there was no block. NotFound names both, also if no id can be meant."""
    try:
        if len(entry) < SHORTEST:
            raise NotFound
        yield
    except NotFound:
        raise NotFound(
            f"{agent} has no block and no passage {entry}. `runyard memory list {agent}` lists what it remembers."
        ) from None


@program.command()
def delete(agent: AgentName, entry: Entry, json: Json = False, quiet: Quiet = False) -> None:
    """Delete a block or a passage."""

    async def remove(client: "AnyClient") -> str:
        if any(block.label == entry and block.owner_id == agent for block in await client.memory_blocks(agent)):
            await client.delete_block(agent, entry)
            return entry
        with _finding(agent, entry):
            passage_id = await whole_passage_id(client, agent, entry)
            await client.delete_passage(agent, passage_id)
        return passage_id

    delete_with_client(remove, json=json, quiet=quiet)
