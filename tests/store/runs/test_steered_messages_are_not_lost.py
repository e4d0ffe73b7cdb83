"""A message for a run that is under way: its agent takes it, or it starts the next run. It is never lost or
duplicated."""

from typing import Literal

import pytest
from msgspec.structs import replace

from runyard.domain.conversations.thread import Thread
from runyard.domain.events import MessageTaken
from runyard.domain.runs.append import Appended, Part, Repeated
from runyard.domain.runs.run import Run, Status
from runyard.errors import KeyReused, NotFound, QueueFull, RunActive
from runyard.store import Accepted, Post, Store
from tests.store.factories import (
    ANN,
    MANY,
    Writer,
    a_chat_post,
    a_key,
    a_post,
    a_thread,
    an_approval,
    claimed,
    decide,
    draft,
    ended,
    ending,
    in_state,
    log,
    lose,
    post,
    received,
    running,
    token,
    written,
)


async def a_stored_thread(store: Store, agent: str | None = None) -> Thread:
    return await store.create_thread(a_thread(agent=agent))


async def steer(store: Store, request: Post) -> Accepted:
    event = received(request)
    return await store.steer(request, lambda run_id: event)


async def texts(store: Store, run_id: str) -> list[str]:
    return [message.text for message in await store.new_messages(run_id)]


def taking(writer: Writer, *requests: Post) -> Part:
    """The next part of the writer, which takes the messages of these posts."""
    ids = [request.message.id for request in requests if request.message is not None]
    return writer.part(*(draft(MessageTaken(message_id)) for message_id in ids), takes=ids)


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.WAITING])
async def test_a_run_that_has_not_ended_gets_the_message(store: Store, status: Status) -> None:
    thread = await a_stored_thread(store)
    run = await in_state(store, status, a_post(thread))
    request = a_post(thread, "also this")
    accepted = await steer(store, request)
    assert (accepted.run_id, accepted.steered) == (run.id, True)
    assert accepted.event is not None
    assert (accepted.event.seq, accepted.event.type) == (run.last_seq + 1, "message.received")
    assert (await log(store, run.id))[-1] == "message.received"
    assert await texts(store, run.id) == ["also this"]
    after = await store.get_run(ANN, run.id)
    assert (after.status, after.unread, after.last_seq) == (status, 1, run.last_seq + 1)
    [_, message] = await store.list_messages(thread.id)
    assert (message.text, message.run_id) == ("also this", run.id)
    with pytest.raises(NotFound):
        await store.get_run(ANN, request.run_id)


async def test_a_thread_without_an_active_run_starts_one(store: Store) -> None:
    thread = await a_stored_thread(store)
    await ended(store, a_post(thread))
    request = a_post(thread)
    accepted = await steer(store, request)
    assert (accepted.run_id, accepted.steered) == (request.run_id, False)
    assert (await claimed(store)).id == request.run_id


async def test_a_chat_is_created_by_its_first_message(store: Store) -> None:
    first, second = a_chat_post("c1"), a_chat_post("c1", "more")
    assert not (await steer(store, first)).steered
    accepted = await steer(store, second)
    assert (accepted.run_id, accepted.steered) == (first.run_id, True)


async def test_a_canceled_run_or_another_agent_gets_no_message(store: Store) -> None:
    thread = await a_stored_thread(store)
    run = await running(store, a_post(thread))
    assert not (await steer(store, a_post(thread, agent="poet"))).steered
    await store.cancel(ANN, run.id, MANY, ending)
    assert not (await steer(store, a_post(thread))).steered


async def test_a_writer_learns_of_messages_from_its_next_commit(store: Store) -> None:
    thread = await a_stored_thread(store)
    run = await running(store, a_post(thread))
    writer = Writer(run)
    assert (await written(store, writer.part(token("a")))).unread == 0
    one, two = a_post(thread, "one"), a_post(thread, "two")
    await steer(store, one)
    await steer(store, two)
    assert (await written(store, writer.part(token("b")))).unread == 2
    assert (await written(store, taking(writer, one))).unread == 1
    assert await texts(store, run.id) == ["two"]


async def test_a_taken_message_stays_with_its_run(store: Store) -> None:
    thread = await a_stored_thread(store)
    run = await running(store, a_post(thread))
    writer, request = Writer(run), a_post(thread)
    await steer(store, request)
    part = taking(writer, request)
    await written(store, part)
    assert isinstance((await store.append([part]))[0], Repeated)
    await written(store, writer.finish(answer="both"))
    assert await store.count_queued(ANN, MANY) == 0
    follower = await store.get_run(ANN, await post(store, a_post(thread, "then")))
    history = [(message.role, message.text) for message in await store.history(follower.id, 5)]
    assert history == [("user", "hello"), ("user", "hello"), ("assistant", "both")]


End = Literal["done", "error", "canceled", "poison", "reaped"]


@pytest.mark.parametrize("end", ["done", "error", "canceled", "poison", "reaped"])
async def test_a_running_run_leaves_its_messages_to_the_next_runs(store: Store, end: End) -> None:
    thread = await a_stored_thread(store, "greeter")
    run = await running(store, a_post(thread))
    requests = [a_post(thread, f"{n}") for n in range(3)]
    for request in requests:
        await steer(store, request)
    writer = Writer(run)
    await written(store, taking(writer, requests[0]))
    match end:
        case "poison":
            await lose(store, run, max_attempts=0)
        case "reaped":
            await store.cancel(ANN, run.id, 0, ending)
            await store.reap(MANY, MANY, ending)
        case _:
            if end == "canceled":
                await store.cancel(ANN, run.id, MANY, ending)
            assert (await written(store, writer.finish(Status(end)))).lane_ready
    await _answers_the_rest(store, thread, run, requests[1:])


@pytest.mark.parametrize("status", [Status.QUEUED, Status.WAITING])
async def test_a_canceled_run_without_a_worker_leaves_them_too(store: Store, status: Status) -> None:
    thread = await a_stored_thread(store, "greeter")
    run = await in_state(store, status, a_post(thread))
    requests = [a_post(thread, f"{n}") for n in (1, 2)]
    for request in requests:
        await steer(store, request)
    await store.cancel(ANN, run.id, MANY, ending)
    await _answers_the_rest(store, thread, run, requests)


async def test_an_abandoned_run_leaves_them_too(store: Store) -> None:
    thread = await a_stored_thread(store, "greeter")
    run = await in_state(store, Status.QUEUED, a_post(thread))
    await steer(store, request := a_post(thread, "1"))
    await store.detach(run.id, 0)
    assert [each.id for each in await store.abandon(MANY, MANY, ending)] == [run.id]
    await _answers_the_rest(store, thread, run, [request])


async def _answers_the_rest(store: Store, thread: Thread, run: Run, left: list[Post]) -> None:
    """Each message that the run left starts a separate run, in order, on the same branch."""
    assert (await store.get_run(ANN, run.id)).unread == 0
    assert await texts(store, run.id) == []
    parent = run.id
    for request in left:
        mine = await claimed(store)
        assert (mine.id, mine.parent_id, mine.agent) == (request.run_id, parent, "greeter")
        [first] = await store.read(mine.id, 0, MANY)
        assert first.type == "run.queued"
        assert request.message is not None
        kept = (await store.get_messages([request.message.id]))[request.message.id]
        assert (kept.run_id, mine.trigger_message_id) == (mine.id, kept.id)
        await written(store, Writer(mine).finish())
        parent = mine.id
    assert (await store.get_thread(ANN, thread.id)).head_run_id == parent
    assert await store.claim((await store.list_workers())[0].id, MANY, False) == []


async def test_messages_survive_a_crash_a_release_and_a_park(store: Store) -> None:
    thread = await a_stored_thread(store)
    run = await running(store, a_post(thread))
    await steer(store, request := a_post(thread, "one"))
    await lose(store, run)
    run = await claimed(store)
    assert run.unread == 1
    writer, approval = Writer(run), an_approval(run)
    await written(store, writer.park(approval))
    await decide(store, approval)
    run = await claimed(store)
    assert run.unread == 1
    writer = Writer(run)
    await written(store, taking(writer, request))
    await written(store, writer.finish())
    assert await store.count_queued(ANN, MANY) == 0


async def test_a_key_is_used_once_and_returns_the_run_that_has_the_message(store: Store) -> None:
    thread = await a_stored_thread(store)
    run = await running(store, a_post(thread))
    request = a_post(thread, key=a_key())
    await steer(store, request)
    again = await steer(store, a_post(thread, key=a_key()))
    assert (again.run_id, again.steered, again.repeated) == (run.id, True, True)
    assert len(await texts(store, run.id)) == 1
    with pytest.raises(KeyReused):
        await steer(store, a_post(thread, key=a_key(digest="other")))
    await written(store, Writer(run).finish())
    left = await steer(store, a_post(thread, key=a_key()))
    assert (left.run_id, left.steered, left.repeated) == (request.run_id, False, True)


async def test_messages_of_one_run_are_limited(store: Store) -> None:
    thread = await a_stored_thread(store)
    await running(store, a_post(thread))
    await steer(store, replace(a_post(thread), most_queued=1))
    with pytest.raises(QueueFull):
        await steer(store, replace(a_post(thread), most_queued=1))


async def test_another_owner_cannot_steer(store: Store) -> None:
    thread = await a_stored_thread(store)
    run = await running(store, a_post(thread))
    for operation in (
        steer(store, a_post(thread, owner="bob")),
        store.interrupt(a_post(thread, owner="bob"), MANY, ending),
        store.accept_if_idle(a_post(thread, owner="bob")),
    ):
        with pytest.raises(NotFound):
            await operation
    assert (await store.get_run(ANN, run.id)).cancel_requested_at is None


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.WAITING])
async def test_interrupt_cancels_the_active_run_and_starts_the_next(store: Store, status: Status) -> None:
    thread = await a_stored_thread(store)
    run = await in_state(store, status, a_post(thread))
    request = a_post(thread, "instead", key=a_key())
    accepted = await store.interrupt(request, MANY, ending)
    assert (accepted.run_id, accepted.steered) == (request.run_id, False)
    assert accepted.interrupted is not None
    assert accepted.interrupted.id == run.id
    stopped = await store.get_run(ANN, run.id)
    if status is Status.RUNNING:
        assert stopped.cancel_requested_at is not None
        assert isinstance((await store.append([Writer(run).finish(Status.CANCELED)]))[0], Appended)
    else:
        assert stopped.status is Status.CANCELED
    mine = await claimed(store)
    assert (mine.id, mine.parent_id) == (request.run_id, run.id)
    again = await store.interrupt(a_post(thread, key=a_key()), MANY, ending)
    assert (again.run_id, again.repeated, again.interrupted) == (request.run_id, True, None)
    assert (await store.get_run(ANN, mine.id)).cancel_requested_at is None


async def test_an_interrupt_that_is_refused_cancels_nothing(store: Store) -> None:
    thread = await a_stored_thread(store)
    run = await running(store, a_post(thread))
    await post(store, a_post(thread))
    with pytest.raises(QueueFull):
        await store.interrupt(replace(a_post(thread), most_queued=1), MANY, ending)
    assert (await store.get_run(ANN, run.id)).cancel_requested_at is None


@pytest.mark.parametrize("status", list(Status))
async def test_reject_starts_a_run_only_in_an_idle_thread(store: Store, status: Status) -> None:
    thread = await a_stored_thread(store)
    await in_state(store, status, a_post(thread))
    request = a_post(thread)
    if not status.is_terminal:
        with pytest.raises(RunActive):
            await store.accept_if_idle(request)
        assert len(await store.list_messages(thread.id)) == 1
    else:
        assert (await store.accept_if_idle(request)).run_id == request.run_id


async def test_a_deleted_thread_takes_its_messages_with_it(store: Store) -> None:
    thread = await a_stored_thread(store)
    run = await running(store, a_post(thread))
    writer, request = Writer(run), a_post(thread, key=a_key())
    await steer(store, request)
    await written(store, taking(writer, request))
    await written(store, writer.finish())
    await store.delete_thread(ANN, thread.id)
    assert await texts(store, run.id) == []
