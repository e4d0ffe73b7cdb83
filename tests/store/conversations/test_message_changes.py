"""Changes of posted messages: reactions, edits, deletions, and read positions."""

import pytest

from runyard.base.ids import new_id
from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import DELETED
from runyard.errors import NotFound
from runyard.store import Store
from tests.store.channel_factories import KEVIN, a_reaction, channel, declare_agents, feed, said
from tests.store.factories import ANN, BOB

CAROL = Participant("carol", "user")


@pytest.fixture
def channel_store(store: Store) -> Store:
    return store


@pytest.fixture(autouse=True)
async def _hired_agents(channel_store: Store) -> None:
    await declare_agents(channel_store)


async def test_reactions_are_counted_once(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN)
    message = (await said(channel_store, here)).message
    assert await channel_store.react(ANN, a_reaction(message))
    assert not await channel_store.react(ANN, a_reaction(message))
    assert await channel_store.react(ANN, a_reaction(message, sender=KEVIN))
    found = (await channel_store.reactions([message.id, new_id()]))[message.id]
    assert [(each.sender, each.emoji) for each in found] == [(ANN, "+1"), ("kevin", "+1")]
    assert (await feed(channel_store))[1:] == [("reaction_added", ANN), ("reaction_added", "kevin")]
    await channel_store.remove_reaction(ANN, a_reaction(message))
    await channel_store.remove_reaction(ANN, a_reaction(message))
    assert (await feed(channel_store))[3:] == [("reaction_removed", ANN)]
    assert [each.sender for each in (await channel_store.reactions([message.id]))[message.id]] == ["kevin"]


async def test_a_message_is_changed_by_its_sender_and_deleted_by_sender_or_owner(channel_store: Store) -> None:
    here = await channel(channel_store, CAROL)
    message = (await said(channel_store, here, caller="carol", sender=CAROL)).message
    of_agent = (await said(channel_store, here, sender=KEVIN)).message
    changed = await channel_store.change_message("carol", message.id, "other")
    assert (changed.text, changed.deleted_at) == ("other", None)
    assert changed.edited_at is not None
    assert await channel_store.get_message(ANN, message.id) == changed
    with pytest.raises(NotFound):
        await channel_store.change_message(BOB, message.id, "mine")
    with pytest.raises(NotFound):
        await channel_store.change_message(ANN, of_agent.id, "not what it said")
    with pytest.raises(NotFound):
        await channel_store.delete_message("carol", of_agent.id, DELETED)
    await channel_store.delete_message(ANN, of_agent.id, DELETED)
    reply = await said(channel_store, here, "reply", parent=message.id)
    await channel_store.react(ANN, a_reaction(message))
    await channel_store.delete_message("carol", message.id, DELETED)
    await channel_store.delete_message(ANN, message.id, "once more")
    left = await channel_store.recent_messages(here.thread.id, None, 9)
    assert [(each.text, each.deleted_at is None) for each in left] == [
        (DELETED, False),
        (DELETED, False),
        ("reply", True),
    ]
    assert left[2].parent_id == reply.message.parent_id == message.id, "replies stay"
    assert await channel_store.reactions([message.id]) == {}
    for attempt in (
        channel_store.change_message("carol", message.id, "back"),
        channel_store.react(ANN, a_reaction(message)),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await feed(channel_store, ANN) == [
        ("message_created", "carol"),
        ("message_created", "kevin"),
        ("message_updated", "carol"),
        ("message_deleted", ANN),
        ("message_created", ANN),
        ("reaction_added", ANN),
        ("message_deleted", "carol"),
    ]
    window = await channel_store.read_feed(ANN, 0, 99)
    texts = {entry.message.text for entry in window.entries if entry.message}
    assert texts == {DELETED, "reply"}, "the feed does not tell what was deleted"


async def test_a_read_position_moves_forward_and_counts_what_others_posted_since(channel_store: Store) -> None:
    here, secret = await channel(channel_store, CAROL), await channel(channel_store, KEVIN, private=True)
    own, other = [(await said(channel_store, here, text, sender=who, caller=who.id)).message for text, who in (
        ("mine", Participant(ANN, "user")), ("hers", CAROL))]  # fmt: skip
    last = (await said(channel_store, here, sender=KEVIN)).message
    hidden = (await said(channel_store, secret, sender=KEVIN)).message

    async def unread(who: str) -> dict[str, tuple[str | None, int]]:
        return {each.thread_id: (each.read_id, each.count) for each in await channel_store.unread(who, 9)}

    assert await unread(ANN) == {here.thread.id: (None, 2), secret.thread.id: (None, 1)}
    await channel_store.mark_read(ANN, here.thread.id, other.id)
    await channel_store.mark_read(ANN, here.thread.id, own.id)  # an earlier one, from another browser
    assert (await unread(ANN))[here.thread.id] == (other.id, 1)
    assert await unread(BOB) == {here.thread.id: (None, 3)}, "positions are separate"
    await channel_store.delete_message(ANN, last.id, DELETED)
    assert (await unread(ANN))[here.thread.id] == (other.id, 0)
    for attempt in (
        channel_store.mark_read(BOB, secret.thread.id, hidden.id),
        channel_store.mark_read(BOB, here.thread.id, hidden.id),
        channel_store.mark_read(ANN, here.thread.id, hidden.id),
        channel_store.mark_read(ANN, here.thread.id, new_id()),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert [each.kind for each in await channel_store.unread(ANN, 1)] == ["channel"]
    await channel_store.delete_thread(ANN, here.thread.id)
    assert await unread(BOB) == {}
