"""Messages are found by the beginnings of their words as long as they exist, and only by those who see their thread.
Titles belong to their thread."""

from pathlib import Path

import pytest

from runyard.base.ids import new_id
from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import DELETED
from runyard.encryption.cipher import make, parse
from runyard.encryption.sealed_store import seal_store
from runyard.errors import NotFound, Sealed
from runyard.store import Store
from runyard.stores.rotation import Rotation
from runyard.stores.sql_store import SqlStore
from tests.store import channel_factories as channels
from tests.store.channel_factories import KEVIN, channel, declare_agents, dm
from tests.store.factories import ANN, BOB, MANY, MINUTE, a_post, a_thread, clock, ended
from tests.store.raw_sql import OpenDatabase


async def said(store: Store, text: str, owner: str = ANN) -> tuple[str, str]:
    """Post a message to a new thread, and return the ids of the thread and the message."""
    thread = await store.create_thread(a_thread(owner))
    post = a_post(thread, text, owner=owner)
    await ended(store, post)
    assert post.message is not None
    return thread.id, post.message.id


async def found(store: Store, *words: str, owner: str = ANN, before: str | None = None, limit: int = MANY) -> list[str]:
    return [message.text for message in await store.search_messages(owner, words, before, limit)]


KEY = make("one")
TEXTS = [
    "The Eiffel Tower, in Paris",
    "paris-match: a magazine. See https://example.org/paris_2024?x=1",
    "Städte: Zürich und Ärger",
    'a\' OR "b" & (c) | !d:* -- drop',
    "日本 の 首都",
]


async def test_a_message_has_a_word_with_each_beginning(store: Store) -> None:
    if await is_sealed(store):
        return
    for text in TEXTS:
        await said(store, text)
    for words, texts in [
        (["paris"], [1, 0]),
        (["par", "tow"], [0]),
        (["2024"], [1]),
        (["zür"], [2]),
        (["zur"], []),
        (["is"], []),
        (["or", "drop"], [3]),
        (["首"], [4]),
        (["the"], [0]),
    ]:
        assert await found(store, *words) == [TEXTS[n] for n in texts], words


async def is_sealed(store: Store) -> bool:
    try:
        await store.search_messages(ANN, ["x"], None, 1)
    except Sealed:
        return True
    return False


async def test_other_owners_deletion_and_retention_take_messages_out_of_the_search(store: Store) -> None:
    if await is_sealed(store):
        return
    first, message_id = await said(store, "paris one")
    await said(store, "paris two")
    await said(store, "paris of Bob", BOB)
    assert await found(store, "paris") == ["paris two", "paris one"]
    assert await found(store, "paris", limit=1) == ["paris two"]
    [newest] = await store.search_messages(ANN, ["paris"], None, 1)
    assert await found(store, "paris", before=newest.id) == ["paris one"]
    assert await found(store, "paris", owner=BOB) == ["paris of Bob"]
    await store.delete_thread(ANN, first)
    assert await found(store, "paris") == ["paris two"]
    assert (await store.sweep(clock.now_ms() + MINUTE, None, MANY)).dropped > 0
    assert await found(store, "paris") == []
    assert await found(store, "paris", owner=BOB) == []
    assert message_id


async def test_messages_of_channels_and_dms_are_found_by_those_who_see_them(store: Store) -> None:
    if await is_sealed(store):
        return
    await declare_agents(store)
    public, private = await channel(store, KEVIN), await channel(store, KEVIN, private=True)
    shared = await channel(store, KEVIN, Participant("carol", "user"), private=True)
    direct = await dm(store, Participant(ANN, "user"), KEVIN)
    await said(store, "paris chat")
    for here, text in ((public, "public"), (private, "private"), (shared, "shared"), (direct, "direct")):
        await channels.said(store, here, f"paris {text}")
    assert await found(store, "paris") == [
        "paris direct",
        "paris shared",
        "paris private",
        "paris public",
        "paris chat",
    ]
    assert await found(store, "paris", owner="carol") == ["paris shared", "paris public"]
    assert await found(store, "paris", owner=BOB) == ["paris public"]
    [message] = await store.search_messages(ANN, ["direct"], None, MANY)
    await store.change_message(ANN, message.id, "rome")
    assert (await found(store, "direct"), await found(store, "rome")) == ([], ["rome"])
    await store.delete_message(ANN, message.id, DELETED)
    assert await found(store, DELETED.strip("()")) == await found(store, "rome") == []


async def test_titles_are_found_by_their_owner_however_many_threads_are_newer(store: Store) -> None:
    if await is_sealed(store):
        return
    threads = [await store.create_thread(a_thread()) for _ in range(3)]
    for thread, title in zip(threads, ["My trip to Paris", "My paris again", "Parisian Ärger"], strict=True):
        await store.set_title(ANN, thread.id, title)
    other = await store.create_thread(a_thread(BOB))
    await store.set_title(BOB, other.id, "Paris of Bob")
    one, two, three = [thread.id for thread in threads]
    assert await store.search_titles(BOB, ["paris"], MANY) == {other.id: "Paris of Bob"}
    for words, ids in [(["paris"], [three, two, one]), (["my", "par"], [two, one]), (["ärg"], [three]), (["ari"], [])]:
        assert list(await store.search_titles(ANN, words, MANY)) == ids, words
    assert list(await store.search_titles(ANN, ["paris"], 2)) == [three, two]
    await store.delete_thread(ANN, two)
    assert list(await store.search_titles(ANN, ["my"], MANY)) == [one]


async def test_a_title_belongs_to_its_thread_and_to_its_owner(store: Store) -> None:
    thread_id, message_id = await said(store, "hello")
    await said(store, "other")
    assert await store.titles([thread_id]) == {}
    assert {each: m.id for each, m in (await store.first_messages([thread_id])).items()} == {thread_id: message_id}
    for owner, wrong in ((BOB, thread_id), (ANN, new_id())):
        with pytest.raises(NotFound):
            await store.set_title(owner, wrong, "Mine")
    await store.set_title(ANN, thread_id, "Mine")
    await store.set_title(ANN, thread_id, "My trip")
    assert await store.titles([thread_id, new_id()]) == {thread_id: "My trip"}
    await store.delete_thread(ANN, thread_id)
    assert await store.titles([thread_id]) == {}
    assert await store.first_messages([thread_id]) == {}


async def test_sealed_text_is_in_no_index_and_comes_back_with_its_key(database: OpenDatabase) -> None:
    ring, plain = parse(KEY), database.store
    assert isinstance(plain, SqlStore)
    thread_id, _ = await said(plain, "paris")
    await plain.set_title(ANN, thread_id, "My trip")
    sealed = seal_store(plain, ring)
    await said(sealed, "paris sealed")
    assert await found(plain, "paris") == ["paris"]
    with pytest.raises(Sealed):
        await sealed.search_messages(ANN, ["paris"], None, 1)
    with pytest.raises(Sealed):
        await sealed.search_titles(ANN, ["trip"], 1)
    assert list(await plain.search_titles(ANN, ["trip"], 1)) == [thread_id]
    assert "titles" in {each.table async for each in Rotation(plain, ring).run() if each.swapped}
    assert await found(plain, "paris") == []
    assert await plain.search_titles(ANN, ["trip"], 1) == {}
    if isinstance(database.where, Path):
        assert await database.values("select rowid from message_words where message_words match 'paris'") == []
    assert (await plain.titles([thread_id]))[thread_id] != "My trip"
    assert await sealed.titles([thread_id]) == {thread_id: "My trip"}
    assert "titles" in {each.table async for each in Rotation(plain, ring, decrypt=True).run() if each.swapped}
    await plain.scrub()
    assert await found(plain, "paris") == ["paris sealed", "paris"]
    assert await plain.titles([thread_id]) == {thread_id: "My trip"}
