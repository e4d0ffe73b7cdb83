"""API keys: authentication, creation, listing and revocation.

A key is read from the store once and cached for a few seconds, also if it does not exist, so most requests need no
query. A key that this process revokes is refused at once; one that another process revokes, after the cache time. The
time of last use is stored once a minute, in the background.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from runyard.base.clock import Clock
from runyard.base.ids import new_name, new_secret
from runyard.domain.api_key import (
    ALL_SCOPES,
    DEFAULT_SCOPES,
    ID_LENGTH,
    LOCAL,
    SECRET_LENGTH,
    ApiKey,
    KeyParts,
    Scope,
    digest_of,
    parts_of,
    whole,
)
from runyard.domain.events import clean
from runyard.domain.redaction.no_redaction import NO_REDACTION
from runyard.errors import KeyRequired, NotFound, RunyardError
from runyard.store import ApiKeyStore
from runyard.telemetry.logger import get_logger

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

log = get_logger()

REMEMBERED_SECONDS = 5.0
MOST_REMEMBERED = 10_000  # keys, and as many ids without a key
RECORD_USE_SECONDS = 60.0


async def _always() -> bool:
    return True


class Caller(Struct, frozen=True):
    """An authenticated caller. `is_still_valid` checks the key again, for streams that may outlive it.
    `is_known_valid` does so without waiting; False means that only `is_still_valid` can tell."""

    owner: str
    scopes: frozenset[Scope]
    key_id: str | None = None
    is_still_valid: Callable[[], Awaitable[bool]] = _always
    is_known_valid: Callable[[], bool] = lambda: True


LOCAL_CALLER = Caller(LOCAL, ALL_SCOPES)  # every caller of a server without keys

UNKNOWN_KEY = ApiKey(id="", owner="", digest="", scopes=frozenset(), created_at=0)  # cached for an id without a key


class _Cached(Struct, frozen=True):
    key: ApiKey
    caller: Caller
    until: float


class Access:
    def __init__(
        self,
        store: ApiKeyStore,
        clock: Clock,
        *,
        cache_seconds: float = REMEMBERED_SECONDS,
        redactor: "Redactor" = NO_REDACTION,
    ) -> None:
        self._redactor = redactor
        self._store = store
        self._clock = clock
        self._cache_seconds = cache_seconds
        self._known: dict[str, _Cached] = {}
        self._unknown: dict[str, _Cached] = {}
        self._reading: dict[str, asyncio.Task[_Cached]] = {}
        self._revocations = 0
        self._used: set[str] = set()

    # --- authentication

    async def authenticate(self, given: str | None) -> Caller:
        """Return the caller that this key belongs to. Raises the same KeyRequired for a missing, unknown, wrong,
        expired or revoked key."""
        parts = parts_of(given or "")
        if parts is None:
            raise KeyRequired
        found = await self._find(parts.id)
        why = found.key.refusal(parts.secret, self._clock.now_ms())
        if why is not None:
            log.info("api_key.rejected", key=parts.id, why="unknown" if found.key is UNKNOWN_KEY else why)
            raise KeyRequired
        self._used.add(parts.id)
        return found.caller

    async def _find(self, key_id: str) -> _Cached:
        found = self._known.get(key_id) or self._unknown.get(key_id)
        if found is not None and found.until > self._clock.monotonic():
            return found
        reading = self._reading.get(key_id)
        if reading is None:
            reading = self._reading[key_id] = asyncio.create_task(self._read(key_id), name=f"key {key_id}")
            reading.add_done_callback(lambda task: self._finish_read(task, key_id))
        return await asyncio.shield(reading)

    def _finish_read(self, reading: "asyncio.Task[_Cached]", key_id: str) -> None:
        self._reading.pop(key_id, None)
        if not reading.cancelled():
            reading.exception()  # retrieved, so that asyncio does not report it if all callers are gone

    async def _read(self, key_id: str) -> _Cached:
        revocations, until = self._revocations, self._clock.monotonic() + self._cache_seconds
        try:
            key = await self._store.get_api_key(key_id)
        except NotFound:
            key = UNKNOWN_KEY
        checks = partial(self._is_still_valid, key.id), partial(self._is_known_valid, key.id)
        found = _Cached(key, Caller(key.owner, key.scopes, key.id, *checks), until)
        if revocations == self._revocations:  # else the key may have been revoked after it was read
            self._cache(found, key_id)
        return found

    def _cache(self, found: _Cached, key_id: str) -> None:
        """Cache unknown ids apart from keys, so that invented ids do not displace keys."""
        self._forget(key_id)
        table = self._unknown if found.key is UNKNOWN_KEY else self._known
        if len(table) >= MOST_REMEMBERED:
            del table[next(iter(table))]
        table[key_id] = found

    def _forget(self, key_id: str) -> None:
        self._known.pop(key_id, None)
        self._unknown.pop(key_id, None)

    async def _is_still_valid(self, key_id: str) -> bool:
        """If the store is unavailable, return True: open streams stay connected."""
        try:
            key = (await self._find(key_id)).key
        except RunyardError:
            return True
        self._used.add(key_id)
        return key is not UNKNOWN_KEY and key.is_valid(self._clock.now_ms())

    def _is_known_valid(self, key_id: str) -> bool:
        found = self._known.get(key_id)
        if found is None or found.until <= self._clock.monotonic():
            return False
        self._used.add(key_id)
        return found.key.is_valid(self._clock.now_ms())

    # --- keys

    async def create(
        self, owner: str, label: str = "", scopes: Collection[Scope] = DEFAULT_SCOPES, seconds: int | None = None
    ) -> tuple[ApiKey, str]:
        """Create a key. Return it with its secret text, which is not stored and cannot be shown again."""
        parts, now = KeyParts(new_name(ID_LENGTH), new_secret(SECRET_LENGTH)), self._clock.now_ms()
        key = ApiKey(
            id=parts.id,
            owner=owner,
            digest=digest_of(parts.secret),
            scopes=frozenset(scopes),
            label=self._redactor.text(clean(label)),
            created_at=now,
            expires_at=None if seconds is None else now + seconds * 1000,
        )
        await self._store.create_api_key(key)
        self._forget(key.id)
        log.info("api_key.created", key=key.id, owner=owner, scopes=sorted(key.scopes))
        return key, whole(parts)

    async def list_keys(self, owner: str | None, before: str | None, limit: int) -> Sequence[ApiKey]:
        """Return the keys of one owner, or of all, newest first."""
        return await self._store.list_api_keys(
            None if owner is None else clean(owner), None if before is None else clean(before), limit
        )

    async def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key and return it. Revoking again keeps the first revocation time."""
        key = await self._store.revoke_api_key(clean(key_id))
        self._revocations += 1
        self._forget(key.id)
        log.info("api_key.revoked", key=key.id, owner=key.owner)
        return key

    # --- time of last use

    async def run(self) -> None:
        """Store the time of last use of keys, until cancelled."""
        while True:
            await asyncio.sleep(RECORD_USE_SECONDS)
            await self.record_use()

    async def record_use(self) -> None:
        used, self._used = sorted(self._used), set()
        if used:
            await self._store.touch_api_keys(used, int(RECORD_USE_SECONDS * 1000))
