"""The encryption keys in use, and statements for the change of keys."""

from collections.abc import Mapping, Sequence
from typing import Any

from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx


async def keys(tx: Tx) -> Mapping[str, bytes]:
    """Return the ids of the keys in use, each with a value that it sealed."""
    return {row["id"]: row["proof"] for row in await tx.rows(tx.q.keys_in_use)}


async def has_content(tx: Tx) -> bool:
    """Return whether the database has content."""
    return any(row["found"] for row in await tx.rows(tx.q.has_content))


async def insert_key(tx: Tx, key_id: str, proof: bytes) -> None:
    await tx.rows(tx.q.insert_encryption_key, key_id, proof)


async def forget_keys(tx: Tx, keep: str | None) -> None:
    await tx.rows(tx.q.forget_encryption_keys, keep)


async def drop_snapshots(tx: Tx, prefix: bytes, has_prefix: bool) -> int:
    """Delete the snapshots whose data starts, or does not start, with these bytes; return how many."""
    return len(await tx.rows(tx.q.drop_sealed_snapshots, prefix, has_prefix))


async def run_one(tx: Tx, name: str, *params: Any) -> Sequence[_rows.Row]:
    return await tx.rows(getattr(tx.q, name), *params)


async def run_many(tx: Tx, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
    await tx.many(getattr(tx.q, name), rows)
