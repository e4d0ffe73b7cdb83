"""Idempotency keys: a repeated request gets the result of the first one."""

from runyard.errors import KeyReused
from runyard.store import IdempotencyKey
from runyard.stores.transactions.tx import Tx


async def take(tx: Tx, key: IdempotencyKey | None, result: str) -> str | None:
    """Store a new key with its `result` and return None, or return the result of a known key. A request without a key
    has no such result."""
    if key is None or await tx.many(tx.q.insert_keys, [(key.scope, key.key, key.digest, result)]):
        return None
    return await known_result(tx, key)


async def known_result(tx: Tx, key: IdempotencyKey) -> str:
    [row] = await tx.rows(tx.q.get_key, key.scope, key.key)
    if row["digest"] != key.digest:
        raise KeyReused
    return str(row["result"])
