"""A stored API key changes only when it is used and when it is revoked."""

import pytest
from msgspec.structs import replace

from runyard.base.ids import new_name
from runyard.domain.api_key import ALL_SCOPES, DEFAULT_SCOPES, ID_LENGTH, ApiKey, digest_of
from runyard.errors import NotFound
from runyard.store import Store
from tests.store.factories import ANN, BOB, MANY, MINUTE, clock


def a_key(owner: str = ANN, age_ms: int = 0, expires_at: int | None = None) -> ApiKey:
    return ApiKey(
        id=new_name(ID_LENGTH),
        owner=owner,
        digest=digest_of("secret"),
        scopes=DEFAULT_SCOPES,
        label="laptop",
        created_at=clock.now_ms() - age_ms,
        expires_at=expires_at,
    )


async def made(store: Store, *keys: ApiKey) -> list[str]:
    for key in keys:
        await store.create_api_key(key)
    return [key.id for key in keys]


async def test_a_key_comes_back_as_it_was_made(store: Store) -> None:
    plain, ending = a_key(), replace(a_key(BOB, expires_at=clock.now_ms() + MINUTE), scopes=ALL_SCOPES, label="")
    await made(store, plain, ending)
    assert await store.get_api_key(plain.id) == plain
    assert await store.get_api_key(ending.id) == ending


async def test_an_unknown_id_is_not_found(store: Store) -> None:
    await made(store, a_key())
    for operation in (store.get_api_key, store.revoke_api_key):
        with pytest.raises(NotFound, match="no API key"):
            await operation("unknown")


async def test_a_revoked_key_stays_on_record_with_the_time_it_was_first_revoked(store: Store) -> None:
    key, other = a_key(), a_key()
    await made(store, key, other)
    revoked = await store.revoke_api_key(key.id)
    assert revoked.revoked_at is not None
    assert revoked == replace(key, revoked_at=revoked.revoked_at)
    assert await store.revoke_api_key(key.id) == revoked
    assert await store.get_api_key(key.id) == revoked
    assert (await store.get_api_key(other.id)).revoked_at is None


async def test_keys_are_listed_newest_first_by_owner_and_by_page(store: Store) -> None:
    old, new, theirs, same = a_key(age_ms=30_000), a_key(age_ms=10_000), a_key(BOB, age_ms=20_000), a_key()
    same = replace(same, created_at=new.created_at)
    await made(store, old, new, theirs, same)
    first, second = sorted((new.id, same.id), reverse=True)
    everyone = [key.id for key in await store.list_api_keys(None, None, MANY)]
    assert everyone == [first, second, theirs.id, old.id]
    assert [key.id for key in await store.list_api_keys(ANN, None, MANY)] == [first, second, old.id]
    assert [key.id for key in await store.list_api_keys(None, None, 2)] == everyone[:2]
    assert [key.id for key in await store.list_api_keys(None, first, 2)] == everyone[1:3]
    assert [key.id for key in await store.list_api_keys(ANN, theirs.id, MANY)] == [old.id]
    assert await store.list_api_keys(None, "unknown", MANY) == []
    assert await store.list_api_keys("carol", None, MANY) == []


async def test_use_is_noted_coarsely_and_only_of_keys_that_are_there(store: Store) -> None:
    key, other = a_key(), a_key()
    await made(store, key, other)
    before = clock.now_ms()
    await store.touch_api_keys([key.id, "unknown"], MINUTE)
    used = (await store.get_api_key(key.id)).last_used_at
    assert used is not None
    assert abs(used - before) < MINUTE
    assert (await store.get_api_key(other.id)).last_used_at is None
    await store.touch_api_keys([key.id], MINUTE)
    assert (await store.get_api_key(key.id)).last_used_at == used
    await store.touch_api_keys([key.id, other.id], -MINUTE)
    assert (await store.get_api_key(other.id)).last_used_at is not None
    await store.touch_api_keys([], 0)
