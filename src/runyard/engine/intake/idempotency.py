"""Requests with an idempotency key: the key as the store compares it, and the check of a repeated request."""

import hashlib

import msgspec

from runyard.errors import Gone, NotFound
from runyard.store import Accepted, IdempotencyKey, RunStore

DELETED = "The run of this request was deleted. To start a new run, send the request with another idempotency key."


def idempotency_key(owner: str, route: str, key: str | None, request: object) -> IdempotencyKey | None:
    """Return a client's idempotency key, scoped to caller and route, with a digest of the request."""
    if key is None:
        return None
    digest = hashlib.sha256(msgspec.json.encode(request, order="sorted")).hexdigest()
    return IdempotencyKey(f"{owner} {route}", key, digest)


async def check_run_exists(store: RunStore, owner: str, accepted: Accepted) -> None:
    """Raise Gone if the run of a repeated request was deleted. The key outlives the run, and this process may still
    have the run's events in memory."""
    try:
        await store.get_run(owner, accepted.run_id)
    except NotFound:
        raise Gone(DELETED) from None
