"""Authentication seldom reads the store, and a revoked key is refused in time."""

import asyncio
from collections import Counter

import pytest

from runyard.domain.api_key import DEFAULT_SCOPES, ApiKey, digest_of, parts_of
from runyard.engine import access as module
from runyard.engine.access import REMEMBERED_SECONDS, Access
from runyard.errors import KeyRequired, Unavailable
from runyard.stores.memory import MemoryStore


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def now_ms(self) -> int:
        return int(self.seconds * 1000)

    def monotonic(self) -> float:
        return self.seconds


class CountingStore(MemoryStore):
    """Counts reads of keys. Answers wait while `gate` is closed; `is_away` makes the store unavailable."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.reads: Counter[str] = Counter()
        self.gate = asyncio.Event()
        self.gate.set()
        self.reached = asyncio.Event()
        self.is_away = False

    async def get_api_key(self, key_id: str) -> ApiKey:
        self.reads[key_id] += 1
        self.reached.set()
        if self.is_away:
            raise Unavailable
        try:
            return await super().get_api_key(key_id)
        finally:
            await self.gate.wait()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(clock: Clock) -> CountingStore:
    return CountingStore(clock)


@pytest.fixture
def access(store: CountingStore, clock: Clock) -> Access:
    return Access(store, clock)


async def refused(access: Access, given: str | None) -> bool:
    with pytest.raises(KeyRequired):
        await access.authenticate(given)
    return True


async def test_a_key_has_an_owner_and_scopes(access: Access) -> None:
    key, text = await access.create("ann", "laptop")
    caller = await access.authenticate(text)
    assert (caller.owner, caller.scopes, caller.key_id) == ("ann", DEFAULT_SCOPES, key.id)
    assert key.label == "laptop"


async def test_only_the_digest_of_a_secret_is_stored(access: Access, store: CountingStore) -> None:
    key, text = await access.create("ann")
    parts = parts_of(text)
    assert parts is not None
    stored = repr(await store.get_api_key(key.id))
    assert parts.secret not in stored
    assert digest_of(parts.secret) in stored
    assert len({(await access.create("ann"))[1] for _ in range(50)}) == 50


async def test_a_key_is_read_once_per_cache_time(access: Access, store: CountingStore, clock: Clock) -> None:
    key, text = await access.create("ann")
    for _ in range(100):
        await access.authenticate(text)
    assert store.reads[key.id] == 1
    clock.seconds += REMEMBERED_SECONDS + 0.1
    await access.authenticate(text)
    assert store.reads[key.id] == 2


async def test_concurrent_requests_share_one_read(access: Access, store: CountingStore) -> None:
    key, text = await access.create("ann")
    store.gate.clear()
    coming = [asyncio.create_task(access.authenticate(text)) for _ in range(20)]
    await store.reached.wait()
    coming[0].cancel()
    store.gate.set()
    callers = await asyncio.gather(*coming[1:])
    assert {caller.owner for caller in callers} == {"ann"}
    assert store.reads[key.id] == 1


async def test_an_unknown_id_is_cached_and_displaces_no_key(
    access: Access, store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_REMEMBERED", 10)
    key, text = await access.create("ann")
    await access.authenticate(text)
    made_up = [f"ry_{n:012d}_{'x' * 43}" for n in range(50)]
    for given in [*made_up, made_up[-1]]:
        assert await refused(access, given)
    assert store.reads[f"{49:012d}"] == 1
    await access.authenticate(text)
    assert store.reads[key.id] == 1
    assert len(access._unknown) == 10


async def test_a_wrong_secret_is_refused_without_another_read(access: Access, store: CountingStore) -> None:
    key, text = await access.create("ann")
    for _ in range(10):
        assert await refused(access, text[:-1] + ("a" if text[-1] != "a" else "b"))
    assert store.reads[key.id] == 1
    assert (await access.authenticate(text)).owner == "ann"


async def test_a_key_that_this_process_revokes_is_refused_at_once(access: Access) -> None:
    key, text = await access.create("ann")
    caller = await access.authenticate(text)
    assert await caller.is_still_valid()
    await access.revoke(key.id)
    assert await refused(access, text)
    assert not await caller.is_still_valid()


async def test_a_key_that_another_process_revokes_is_refused_after_the_cache_time(
    access: Access, store: CountingStore, clock: Clock
) -> None:
    key, text = await access.create("ann")
    caller = await access.authenticate(text)
    await Access(store, clock).revoke(key.id)
    assert (await access.authenticate(text)).owner == "ann"
    clock.seconds += REMEMBERED_SECONDS
    assert await refused(access, text)
    assert not await caller.is_still_valid()


async def test_a_read_from_before_a_revocation_is_not_cached(access: Access, store: CountingStore) -> None:
    key, text = await access.create("ann")
    store.gate.clear()
    coming = asyncio.create_task(access.authenticate(text))
    await store.reached.wait()
    await access.revoke(key.id)
    store.gate.set()
    await coming
    assert await refused(access, text)


async def test_a_key_expires_on_time_even_while_it_is_cached(access: Access, clock: Clock) -> None:
    _, text = await access.create("ann", seconds=2)
    caller = await access.authenticate(text)
    clock.seconds += 1.9
    await access.authenticate(text)
    clock.seconds += 0.1
    assert await refused(access, text)
    assert not await caller.is_still_valid()


async def test_while_the_store_is_unavailable_new_callers_are_refused_and_open_streams_stay(
    access: Access, store: CountingStore, clock: Clock
) -> None:
    _, text = await access.create("ann")
    caller = await access.authenticate(text)
    store.is_away = True
    clock.seconds += REMEMBERED_SECONDS
    with pytest.raises(Unavailable):
        await access.authenticate(text)
    assert await caller.is_still_valid()
    store.is_away = False
    assert (await access.authenticate(text)).owner == "ann"


async def test_the_time_of_last_use_is_stored_later(access: Access, store: CountingStore, clock: Clock) -> None:
    key, text = await access.create("ann")
    unused, _ = await access.create("ann")
    await access.authenticate(text)
    assert (await store.get_api_key(key.id)).last_used_at is None
    await access.record_use()
    assert (await store.get_api_key(key.id)).last_used_at == clock.now_ms()
    assert (await store.get_api_key(unused.id)).last_used_at is None
    clock.seconds += 30
    await access.authenticate(text)
    await access.record_use()
    assert (await store.get_api_key(key.id)).last_used_at == clock.now_ms() - 30_000
