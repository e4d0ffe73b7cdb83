"""Retention in conversations deletes old messages, runs and feed entries; the conversation and its members stay."""

import pytest

from runyard.domain.runs.run import Run
from runyard.errors import NotFound
from runyard.store import Store, Swept
from tests.store.channel_factories import KEVIN, OSCAR, a_reaction, channel, declare_agents, feed, said
from tests.store.factories import ANN, MANY, Writer, a_post, a_thread, a_worker, claims, clock, post, written

LATER = 10_000


def later() -> int:
    return clock.now_ms() + LATER


async def at_work(store: Store) -> Run:
    [run] = await claims(store, await a_worker(store))
    return run


async def test_words_go_with_their_reactions_and_the_channel_stays(store: Store) -> None:
    await declare_agents(store, KEVIN)
    here = await channel(store, KEVIN)
    hello = (await said(store, here)).message
    await store.react(ANN, a_reaction(hello))
    await written(store, Writer(await at_work(store)).finish())
    assert await store.sweep_messages(later(), None, MANY) == Swept(1, 1, None)
    assert await store.recent_messages(here.thread.id, None, MANY, None) == []
    assert await store.reactions([hello.id]) == {}
    assert (await store.get_conversation(ANN, here.thread.id)).members == here.members


async def test_words_that_are_young_were_replied_to_later_or_are_at_work_stay(store: Store) -> None:
    await declare_agents(store, KEVIN)
    here = await channel(store, KEVIN)
    asked = (await said(store, here)).message
    assert await store.sweep_messages(asked.created_at - LATER, None, MANY) == Swept(0, 0, None)
    run = await at_work(store)
    assert (await store.sweep_messages(later(), None, MANY)).dropped == 0  # a run is about it
    await written(store, Writer(run).finish())
    reply = (await said(store, here, parent=asked.id)).message
    between = reply.created_at
    assert (await store.sweep_messages(between, None, MANY)).dropped == 0  # the reply hangs on it
    assert (await store.sweep_messages(later(), None, MANY)).dropped == 2


async def test_chats_lose_no_single_words(store: Store) -> None:
    thread = a_thread()
    await store.create_thread(thread)
    await post(store, a_post(thread=thread))
    assert (await store.sweep_messages(later(), None, MANY)).dropped == 0


async def test_a_sweep_of_words_goes_on_where_the_last_batch_ended(store: Store) -> None:
    here = await channel(store)
    for _ in range(5):
        await said(store, here)
    first = await store.sweep_messages(later(), None, 3)
    assert (first.looked, first.dropped) == (3, 3)
    assert first.cursor is not None
    assert await store.sweep_messages(later(), first.cursor, 3) == Swept(2, 2, None)


async def test_a_run_in_a_mailbox_goes_alone_and_the_mailbox_works_on(store: Store) -> None:
    await declare_agents(store, KEVIN)
    here = await channel(store, KEVIN)
    await said(store, here)
    old = await at_work(store)
    await written(store, Writer(old).finish())
    assert (await store.sweep(later(), None, MANY)).dropped == 1
    with pytest.raises(NotFound):
        await store.get_run(ANN, old.id)
    assert (await store.get_tombstone(ANN, old.id)).status == "done"
    assert len(await store.recent_messages(here.thread.id, None, MANY, None)) == 1
    await said(store, here, "and you?")
    assert (await at_work(store)).agent == KEVIN.id


async def test_a_run_with_another_run_held_behind_it_stays(store: Store) -> None:
    await declare_agents(store, KEVIN, OSCAR)
    here = await channel(store, KEVIN, OSCAR)
    await said(store, here, pause_ms=LATER * 100)
    first = await at_work(store)
    await written(store, Writer(first).finish())
    assert (await store.sweep(later(), None, MANY)).dropped == 0
    assert (await store.get_run(ANN, first.id)).id == first.id


async def test_the_feed_begins_after_what_was_dropped_of_it(store: Store) -> None:
    here = await channel(store)
    for _ in range(3):
        await said(store, here)
    assert await store.feed_start() == 0
    last = await store.number_feed(MANY)
    assert await store.drop_feed(clock.now_ms() - LATER, MANY) == 0
    assert await store.drop_feed(later(), 2) == 2
    assert await store.feed_start() == last - 1
    assert len(await feed(store)) == 1
    await said(store, here)
    assert await store.number_feed(MANY) == last + 1  # numbers continue
