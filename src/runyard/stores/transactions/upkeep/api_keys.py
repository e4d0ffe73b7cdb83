"""API keys."""

from collections.abc import Sequence

from runyard.domain.api_key import ApiKey
from runyard.errors import NotFound
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx


async def create(tx: Tx, key: ApiKey) -> None:
    scopes = " ".join(sorted(key.scopes))
    values = (key.id, key.owner, key.digest, scopes, key.label, key.created_at, key.expires_at)
    await tx.rows(tx.q.insert_api_key, *values)


async def get(tx: Tx, key_id: str) -> ApiKey:
    return _one(await tx.rows(tx.q.get_api_key, key_id))


async def list_page(tx: Tx, owner: str | None, before: str | None, limit: int) -> Sequence[ApiKey]:
    return [_rows.api_key(row) for row in await tx.rows(tx.q.list_api_keys, owner, before, limit)]


async def revoke(tx: Tx, key_id: str) -> ApiKey:
    return _one(await tx.rows(tx.q.revoke_api_key, key_id))


async def touch(tx: Tx, key_ids: Sequence[str], quiet_ms: int) -> None:
    await tx.rows(tx.q.touch_api_keys, list(key_ids), quiet_ms)


def _one(rows: Sequence[_rows.Row]) -> ApiKey:
    for row in rows:
        return _rows.api_key(row)
    raise NotFound("There is no API key with that id.")
