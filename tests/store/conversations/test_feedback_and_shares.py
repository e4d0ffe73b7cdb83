"""A run has one feedback, and a link shows one thread until it expires. Both are deleted with what they are about."""

import pytest

from runyard.base.ids import new_id
from runyard.domain.conversations.thread import Share, Thread
from runyard.domain.runs.run import Feedback
from runyard.errors import NotFound, TooMany
from runyard.store import Store
from tests.store.factories import ANN, BOB, MANY, MINUTE, a_post, a_thread, ended, post


def a_share(thread: Thread, owner: str = ANN) -> Share:
    made = new_id()
    return Share(id=made, owner=owner, thread_id=thread.id, digest=f"digest of {made}", upto=new_id())


async def test_feedback_is_replaced_taken_back_and_deleted_with_its_run(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run, other = await ended(store, a_post(thread)), await post(store)
    first = await store.put_feedback(Feedback(run_id=run.id, value="up"))
    assert (first.value, first.comment, first.created_at > 0) == ("up", None, True)
    second = await store.put_feedback(Feedback(run_id=run.id, value="down", comment="too long"))
    assert await store.read_feedback([run.id, other, new_id()]) == {run.id: second}
    await store.drop_feedback(run.id)
    await store.drop_feedback(run.id)
    assert await store.read_feedback([run.id]) == {}
    await store.put_feedback(Feedback(run_id=run.id, value="up"))
    await store.delete_thread(ANN, thread.id)
    assert await store.read_feedback([run.id]) == {}
    with pytest.raises(NotFound):
        await store.put_feedback(Feedback(run_id=run.id, value="up"))


async def test_retention_deletes_feedback_and_links(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run = await ended(store, a_post(thread))
    await store.put_feedback(Feedback(run_id=run.id, value="up", comment="fine"))
    share = await store.create_share(a_share(thread), MINUTE, 9)
    swept = await store.sweep(run.created_at + 10 * MINUTE, None, MANY)
    assert swept.dropped == 1
    assert await store.read_feedback([run.id]) == {}
    with pytest.raises(NotFound):
        await store.find_share(share.digest)


async def test_a_link_is_found_by_its_digest_until_it_expires_or_is_revoked(store: Store) -> None:
    thread, other = await store.create_thread(a_thread()), await store.create_thread(a_thread())
    made = await store.create_share(a_share(thread), MINUTE, 2)
    assert made.expires_at == made.created_at + MINUTE
    assert await store.find_share(made.digest) == made
    over = await store.create_share(a_share(thread), 0, 2)
    with pytest.raises(NotFound):
        await store.find_share(over.digest)
    assert await store.list_shares(ANN, thread.id) == [made]
    newer = await store.create_share(a_share(thread), MINUTE, 2)  # an expired one does not count
    assert await store.list_shares(ANN, thread.id) == [newer, made]
    assert await store.list_shares(BOB, thread.id) == await store.list_shares(ANN, other.id) == []
    with pytest.raises(TooMany):
        await store.create_share(a_share(thread), MINUTE, 2)
    for owner, place in ((BOB, thread.id), (ANN, other.id)):
        with pytest.raises(NotFound):
            await store.drop_share(owner, place, made.id)
    await store.drop_share(ANN, thread.id, made.id)
    with pytest.raises(NotFound):
        await store.find_share(made.digest)
    await store.delete_thread(ANN, thread.id)
    with pytest.raises(NotFound):
        await store.find_share(newer.digest)


async def test_only_a_chat_of_the_owner_can_be_shared(store: Store) -> None:
    thread = await store.create_thread(a_thread(BOB))
    for wrong in (a_share(thread), a_share(a_thread())):
        with pytest.raises(NotFound):
            await store.create_share(wrong, MINUTE, 2)
    assert await store.list_shares(BOB, thread.id) == []
