"""Who may come in. A key is looked up once and then remembered for a few seconds, found or not, so that checking it
costs no question to the store; a key that was revoked in another process opens nothing here after that time, and in
this process from that moment on.

That a key is used is noted once a minute, beside everything else, never while somebody waits.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

import structlog
from msgspec import Struct

from runyard.clock import Clock
from runyard.domain.api_key import (
    ALL_SCOPES,
    DEFAULT_SCOPES,
    ID_LENGTH,
    LOCAL,
    SECRET_LENGTH,
    ApiKey,
    Parts,
    Scope,
    digest_of,
    parts_of,
    whole,
)
from runyard.domain.events import clean
from runyard.errors import KeyRequired, NotFound, RunyardError
from runyard.ids import new_name, new_secret
from runyard.store import Store

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor

log = structlog.get_logger()

REMEMBERED_SECONDS = 5.0
MOST_REMEMBERED = 10_000  # keys, and as many ids that are none
NOTE_SECONDS = 60.0


async def _always() -> bool:
    return True


class Caller(Struct, frozen=True):
    """Who is asking, and by which key. `is_welcome` asks again: what takes long may outlive its key."""

    owner: str
    scopes: frozenset[Scope]
    key_id: str | None = None
    is_welcome: Callable[[], Awaitable[bool]] = _always


EVERYBODY = Caller(LOCAL, ALL_SCOPES)  # where no key is needed


NO_KEY = ApiKey(id="", owner="", digest="", scopes=frozenset(), created_at=0)  # what an unknown id stands for


class _Remembered(Struct, frozen=True):
    key: ApiKey
    caller: Caller
    until: float


class Access:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        remember_seconds: float = REMEMBERED_SECONDS,
        redactor: "Redactor | None" = None,
    ) -> None:
        self._redactor = redactor
        self._store = store
        self._clock = clock
        self._seconds = remember_seconds
        self._known: dict[str, _Remembered] = {}
        self._unknown: dict[str, _Remembered] = {}
        self._reading: dict[str, asyncio.Task[_Remembered]] = {}
        self._revocations = 0
        self._used: set[str] = set()

    # --- at the door

    async def let_in(self, given: str | None) -> Caller:
        """Who has this key. Whatever is wrong with it, KeyRequired says the same."""
        parts = parts_of(given or "")
        if parts is None:
            raise KeyRequired
        found = await self._find(parts.id)
        why = found.key.refusal(parts.secret, self._clock.now_ms())
        if why is not None:
            log.info("api_key.rejected", key=parts.id, why="unknown" if found.key is NO_KEY else why)
            raise KeyRequired
        self._used.add(parts.id)
        return found.caller

    async def _find(self, key_id: str) -> _Remembered:
        found = self._known.get(key_id) or self._unknown.get(key_id)
        if found is not None and found.until > self._clock.monotonic():
            return found
        reading = self._reading.get(key_id)
        if reading is None:
            reading = self._reading[key_id] = asyncio.create_task(self._read(key_id), name=f"key {key_id}")
            reading.add_done_callback(lambda task: self._settle(task, key_id))
        return await asyncio.shield(reading)

    def _settle(self, reading: "asyncio.Task[_Remembered]", key_id: str) -> None:
        self._reading.pop(key_id, None)
        if not reading.cancelled():
            reading.exception()  # seen, also if nobody waits any more

    async def _read(self, key_id: str) -> _Remembered:
        revocations, until = self._revocations, self._clock.monotonic() + self._seconds
        try:
            key = await self._store.get_api_key(key_id)
        except NotFound:
            key = NO_KEY
        found = _Remembered(key, Caller(key.owner, key.scopes, key.id, partial(self._is_welcome, key.id)), until)
        if revocations == self._revocations:  # else this may have been read before somebody revoked it
            self._remember(found, key_id)
        return found

    def _remember(self, found: _Remembered, key_id: str) -> None:
        """In two tables, so that made-up ids drive no key out."""
        self._forget(key_id)
        table = self._unknown if found.key is NO_KEY else self._known
        if len(table) >= MOST_REMEMBERED:
            del table[next(iter(table))]
        table[key_id] = found

    def _forget(self, key_id: str) -> None:
        self._known.pop(key_id, None)
        self._unknown.pop(key_id, None)

    async def _is_welcome(self, key_id: str) -> bool:
        """While the store is away nobody is sent away."""
        try:
            key = (await self._find(key_id)).key
        except RunyardError:
            return True
        self._used.add(key_id)
        return key is not NO_KEY and key.is_valid(self._clock.now_ms())

    # --- keys

    async def create(
        self, owner: str, label: str = "", scopes: Collection[Scope] = DEFAULT_SCOPES, seconds: int | None = None
    ) -> tuple[ApiKey, str]:
        """A new key, and the text that is given to its owner and to nobody ever again."""
        parts, now = Parts(new_name(ID_LENGTH), new_secret(SECRET_LENGTH)), self._clock.now_ms()
        key = ApiKey(
            id=parts.id,
            owner=owner,
            digest=digest_of(parts.secret),
            scopes=frozenset(scopes),
            label=clean(label) if self._redactor is None else self._redactor.text(clean(label)),
            created_at=now,
            expires_at=None if seconds is None else now + seconds * 1000,
        )
        await self._store.create_api_key(key)
        self._forget(key.id)
        log.info("api_key.created", key=key.id, owner=owner, scopes=sorted(key.scopes))
        return key, whole(parts)

    async def keys(self, owner: str | None, before: str | None, limit: int) -> Sequence[ApiKey]:
        return await self._store.list_api_keys(
            None if owner is None else clean(owner), None if before is None else clean(before), limit
        )

    async def revoke(self, key_id: str) -> ApiKey:
        key = await self._store.revoke_api_key(clean(key_id))
        self._revocations += 1
        self._forget(key.id)
        log.info("api_key.revoked", key=key.id, owner=key.owner)
        return key

    # --- use

    async def run(self) -> None:
        """Note what is used, until cancelled."""
        while True:
            await asyncio.sleep(NOTE_SECONDS)
            await self.note_use()

    async def note_use(self) -> None:
        used, self._used = sorted(self._used), set()
        if used:
            await self._store.touch_api_keys(used, int(NOTE_SECONDS * 1000))
