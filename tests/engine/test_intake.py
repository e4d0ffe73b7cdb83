"""Intake: concurrent posts share a commit, and each succeeds or fails alone."""

import asyncio
from typing import Any

import pytest

from runyard.base.ids import new_id
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.intake.intake import Intake
from runyard.engine.intake.user_message import UserMessage
from runyard.engine.log.tail import Tail
from runyard.errors import Invalid, KeyReused, NotFound, Unavailable
from runyard.store import Accepted
from tests.engine.fakes import NO_LISTENER, NotingStore
from tests.store.factories import ANN, clock


def intake_of(store: NotingStore, tail: Tail | None = None) -> Intake:
    return Intake(
        store,
        tail or Tail(NO_LISTENER),
        clock=clock,
        agents=["default", "other"],
        default_agent="default",
        wake_workers=lambda: None,
    )


async def test_posts_that_come_while_one_is_committed_share_the_next_commit() -> None:
    store = NotingStore()
    intake = intake_of(store)
    thread = await intake.open_thread(ANN, None, None)
    store.gate.clear()
    first = asyncio.create_task(intake.post(thread.id, UserMessage(ANN, "threads", "0", None)))
    await store.accepting.wait()
    rest = [
        asyncio.create_task(intake.post(thread.id, UserMessage(ANN, "threads", f"{n}", None))) for n in range(1, 30)
    ]
    await asyncio.sleep(0)
    store.gate.set()
    accepted = await asyncio.gather(first, *rest)
    assert [len(group) for group in store.accepted] == [1, 29]
    assert len({one.run_id for one in accepted}) == 30
    assert [message.text for message in await store.list_messages(thread.id)] == [f"{n}" for n in range(30)]


async def test_of_posts_in_one_commit_each_fails_alone() -> None:
    store = NotingStore()
    intake = intake_of(store)
    thread = await intake.open_thread(ANN, None, None)
    key = idempotency_key(ANN, "r", "k", "one")
    await intake.post(thread.id, UserMessage(ANN, "threads", "one", None, key))
    results = await asyncio.gather(
        intake.post(thread.id, UserMessage(ANN, "threads", "fine", None)),
        intake.post(new_id(), UserMessage(ANN, "threads", "no thread", None)),
        intake.post(thread.id, UserMessage(ANN, "threads", "other", None, idempotency_key(ANN, "r", "k", "two"))),
        intake.post(thread.id, UserMessage("bob", "threads", "not yours", None)),
        intake.post(thread.id, UserMessage(ANN, "threads", "fine too", None)),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [Accepted, NotFound, KeyReused, NotFound, Accepted]
    assert len(store.accepted) == 2


async def test_while_the_database_is_unavailable_every_caller_gets_an_error_and_the_next_post_succeeds() -> None:
    class StoreAwayOnce(NotingStore):
        away = True

        async def accept(self, posts: Any, room: Any = None) -> Any:
            if self.away:
                self.away = False
                raise Unavailable
            return await super().accept(posts, room)

    store = StoreAwayOnce()
    intake = intake_of(store)
    thread = await intake.open_thread(ANN, None, None)
    failed = await asyncio.gather(
        *(intake.post(thread.id, UserMessage(ANN, "threads", "x", None)) for _ in range(3)), return_exceptions=True
    )
    assert [type(result) for result in failed] == [Unavailable] * 3
    assert isinstance(await intake.post(thread.id, UserMessage(ANN, "threads", "x", None)), Accepted)


async def test_a_cancelled_caller_does_not_cancel_the_others() -> None:
    store = NotingStore()
    intake = intake_of(store)
    thread = await intake.open_thread(ANN, None, None)
    store.gate.clear()
    gone = asyncio.create_task(intake.post(thread.id, UserMessage(ANN, "threads", "gone", None)))
    stays = asyncio.create_task(intake.post(thread.id, UserMessage(ANN, "threads", "stays", None)))
    await store.accepting.wait()
    gone.cancel()
    store.gate.set()
    assert isinstance(await stays, Accepted)


async def test_the_first_event_is_in_the_tail_as_soon_as_the_post_is_answered() -> None:
    store, tail = NotingStore(), Tail(NO_LISTENER)
    intake = intake_of(store, tail=tail)
    thread = await intake.open_thread(ANN, None, "other")
    accepted = await intake.post(thread.id, UserMessage(ANN, "threads", "x", None))
    chunks = tail.read(accepted.run_id, 0)
    assert chunks is not None
    assert [event.type for chunk in chunks for event in chunk.events] == ["run.queued"]
    assert (await store.get_run(ANN, accepted.run_id)).agent == "other"


async def test_only_agents_that_are_declared_can_be_named() -> None:
    intake = intake_of(NotingStore())
    thread = await intake.open_thread(ANN, None, None)
    with pytest.raises(Invalid):
        await intake.open_thread(ANN, None, "unknown")
    with pytest.raises(Invalid):
        await intake.post(thread.id, UserMessage(ANN, "threads", "x", "unknown"))
