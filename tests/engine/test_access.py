"""Checking a key costs no question to the store, and a key that was revoked is forgotten in time."""

import asyncio
from collections import Counter

import pytest

from runyard.domain.api_key import DEFAULT_SCOPES, ApiKey, digest_of, parts_of
from runyard.engine import access as module
from runyard.engine.access import REMEMBERED_SECONDS, Access
from runyard.errors import KeyRequired, Unavailable
from runyard.stores.memory import MemoryStore


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def now_ms(self) -> int:
        return int(self.seconds * 1000)

    def monotonic(self) -> float:
        return self.seconds


class CountingStore(MemoryStore):
    """Counts what it is asked, holds answers back while `gate` is closed, and may be away."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.asked: Counter[str] = Counter()
        self.gate = asyncio.Event()
        self.gate.set()
        self.reached = asyncio.Event()
        self.is_away = False

    async def get_api_key(self, key_id: str) -> ApiKey:
        self.asked[key_id] += 1
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


async def test_a_key_says_who_comes_and_what_for(access: Access) -> None:
    key, text = await access.create("ann", "laptop")
    caller = await access.authenticate(text)
    assert (caller.owner, caller.scopes, caller.key_id) == ("ann", DEFAULT_SCOPES, key.id)
    assert key.label == "laptop"


async def test_of_a_secret_nothing_but_its_digest_is_kept(access: Access, store: CountingStore) -> None:
    key, text = await access.create("ann")
    parts = parts_of(text)
    assert parts is not None
    kept = repr(await store.get_api_key(key.id))
    assert parts.secret not in kept
    assert digest_of(parts.secret) in kept
    assert len({(await access.create("ann"))[1] for _ in range(50)}) == 50


async def test_a_key_is_looked_up_once_in_a_while(access: Access, store: CountingStore, clock: Clock) -> None:
    key, text = await access.create("ann")
    for _ in range(100):
        await access.authenticate(text)
    assert store.asked[key.id] == 1
    clock.seconds += REMEMBERED_SECONDS + 0.1
    await access.authenticate(text)
    assert store.asked[key.id] == 2


async def test_many_at_once_ask_once(access: Access, store: CountingStore) -> None:
    key, text = await access.create("ann")
    store.gate.clear()
    coming = [asyncio.create_task(access.authenticate(text)) for _ in range(20)]
    await store.reached.wait()
    coming[0].cancel()
    store.gate.set()
    callers = await asyncio.gather(*coming[1:])
    assert {caller.owner for caller in callers} == {"ann"}
    assert store.asked[key.id] == 1


async def test_an_unknown_id_is_remembered_too_and_drives_no_key_out(
    access: Access, store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_REMEMBERED", 10)
    key, text = await access.create("ann")
    await access.authenticate(text)
    made_up = [f"ry_{n:012d}_{'x' * 43}" for n in range(50)]
    for given in [*made_up, made_up[-1]]:
        assert await refused(access, given)
    assert store.asked[f"{49:012d}"] == 1
    await access.authenticate(text)
    assert store.asked[key.id] == 1
    assert len(access._unknown) == 10


async def test_a_wrong_secret_is_refused_without_asking_again(access: Access, store: CountingStore) -> None:
    key, text = await access.create("ann")
    for _ in range(10):
        assert await refused(access, text[:-1] + ("a" if text[-1] != "a" else "b"))
    assert store.asked[key.id] == 1
    assert (await access.authenticate(text)).owner == "ann"


async def test_a_key_that_is_revoked_here_opens_nothing_from_then_on(access: Access) -> None:
    key, text = await access.create("ann")
    caller = await access.authenticate(text)
    assert await caller.is_still_valid()
    await access.revoke(key.id)
    assert await refused(access, text)
    assert not await caller.is_still_valid()


async def test_a_key_that_is_revoked_elsewhere_opens_nothing_after_a_few_seconds(
    access: Access, store: CountingStore, clock: Clock
) -> None:
    key, text = await access.create("ann")
    caller = await access.authenticate(text)
    await Access(store, clock).revoke(key.id)
    assert (await access.authenticate(text)).owner == "ann"
    clock.seconds += REMEMBERED_SECONDS
    assert await refused(access, text)
    assert not await caller.is_still_valid()


async def test_what_was_read_before_a_revocation_is_not_remembered_after_it(
    access: Access, store: CountingStore
) -> None:
    key, text = await access.create("ann")
    store.gate.clear()
    coming = asyncio.create_task(access.authenticate(text))
    await store.reached.wait()
    await access.revoke(key.id)
    store.gate.set()
    await coming
    assert await refused(access, text)


async def test_a_key_ends_when_it_says_so_also_while_it_is_remembered(access: Access, clock: Clock) -> None:
    _, text = await access.create("ann", seconds=2)
    caller = await access.authenticate(text)
    clock.seconds += 1.9
    await access.authenticate(text)
    clock.seconds += 0.1
    assert await refused(access, text)
    assert not await caller.is_still_valid()


async def test_while_the_store_is_away_nobody_new_comes_in_and_nobody_is_sent_away(
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


async def test_use_is_noted_beside_everything_else(access: Access, store: CountingStore, clock: Clock) -> None:
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
