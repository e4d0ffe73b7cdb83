"""Which keys have sealed something here, and other seals for what is stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx


async def keys(tx: Tx) -> Mapping[str, bytes]:
    """The ids of the keys in use, each with a value that it sealed."""
    return {row["id"]: row["proof"] for row in await tx.rows(tx.q.keys_in_use)}


async def has_content(tx: Tx) -> bool:
    """Whether any column that may be sealed holds something."""
    return any(row["found"] for row in await tx.rows(tx.q.has_content))


async def note_key(tx: Tx, key_id: str, proof: bytes) -> None:
    await tx.rows(tx.q.note_encryption_key, key_id, proof)


async def forget_keys(tx: Tx, but: str | None) -> None:
    await tx.rows(tx.q.forget_encryption_keys, but)


async def drop_snapshots(tx: Tx, head: bytes, if_it_begins: bool) -> int:
    """Remove the snapshots whose data begins, or does not begin, with these bytes; return how many there were."""
    return len(await tx.rows(tx.q.drop_sealed_snapshots, head, if_it_begins))


async def look(tx: Tx, name: str, *params: Any) -> Sequence[_rows.Row]:
    return await tx.rows(getattr(tx.q, name), *params)


async def swap(tx: Tx, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
    await tx.many(getattr(tx.q, name), rows)
