"""The memory of agents: blocks and passages."""

from collections.abc import Sequence

import msgspec

from runyard.domain.content.memory import Block, Passage
from runyard.errors import NotFound
from runyard.stores import rows as _rows
from runyard.stores.transactions.content import agents
from runyard.stores.transactions.tx import Tx


def _block(row: _rows.Row) -> Block:
    return Block(
        id=str(row["id"]),
        agent=row["agent"],
        owner=row["owner"],
        label=row["label"],
        content=row["content"],
        is_shared=bool(row["is_shared"]),
        updated_at=row["updated_at"],
    )


async def blocks(tx: Tx, agent: str, owner: str) -> Sequence[Block]:
    return [_block(row) for row in await tx.rows(tx.q.read_blocks, agent, owner)]


async def put_block(tx: Tx, block: Block, is_shared: bool | None = None) -> Block:
    await agents.check(tx, block.agent)
    values = (block.id, block.agent, block.owner, block.label, block.content, is_shared, block.updated_at)
    [row] = await tx.rows(tx.q.put_block, *values)
    return _block(row)


async def drop_block(tx: Tx, agent: str, owner: str, label: str) -> None:
    if not await tx.rows(tx.q.drop_block, agent, owner, label):
        raise NotFound("There is no block with that label.")


async def link_block(tx: Tx, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
    await agents.check(tx, reader)
    if not await tx.rows(tx.q.link_block, agent, owner, label, reader, reader_owner):
        raise NotFound("There is no shared block with that label.")


async def unlink_block(tx: Tx, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
    await tx.rows(tx.q.unlink_block, agent, owner, label, reader, reader_owner)


def _passage(row: _rows.Row) -> Passage:
    return Passage(
        id=str(row["id"]),
        agent=row["agent"],
        owner=row["owner"],
        content=row["content"],
        tags=msgspec.json.decode(row["tags"], type=list[str]),
        created_at=row["created_at"],
        cause=row["cause"],
    )


async def put_passage(tx: Tx, passage: Passage) -> Passage:
    await agents.check(tx, passage.agent)
    tags = msgspec.json.encode(passage.tags).decode()
    values = (passage.id, passage.agent, passage.owner, passage.content, tags, passage.created_at, passage.cause)
    if not await tx.rows(tx.q.put_passage, *values) and passage.cause is not None:
        [row] = await tx.rows(tx.q.caused_passage, passage.cause)
        return _passage(row)
    return passage


async def passages(tx: Tx, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
    return [_passage(row) for row in await tx.rows(tx.q.list_passages, agent, owner, before, limit)]


async def find_passages(tx: Tx, agent: str, owner: str, words: str, text: str, limit: int) -> Sequence[Passage]:
    return [_passage(row) for row in await tx.rows(tx.q.find_passages, agent, owner, words, limit, text)]


async def drop_passage(tx: Tx, agent: str, owner: str, passage_id: str) -> None:
    if not await tx.rows(tx.q.drop_passage, agent, owner, passage_id):
        raise NotFound("There is no passage with that id.")
