"""Intake: message, run and first event together or not at all, and once per key for any number of requests."""

from anyio import create_task_group

from runyard.base.ids import new_id
from runyard.domain.events import RunQueued
from runyard.domain.runs.run import Status
from runyard.errors import KeyReused, NotFound, RunyardError
from runyard.store import Accepted, Store
from tests.store.factories import ANN, BOB, MANY, MINUTE, a_key, a_moment, a_post, a_thread, claimed, log, post, running


async def test_a_post_makes_one_queued_run_with_its_message_and_first_event(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    request = a_post(thread, "hello")
    [accepted] = await store.accept([request])
    [event] = await store.read(request.run_id, 0, MANY)
    assert accepted == Accepted(request.run_id, event, thread_id=thread.id)
    assert (event.seq, event.source, event.v) == (1, "api", 1)
    assert request.message is not None
    assert event.payload == RunQueued("default", request.message.id)
    [run] = await store.list_runs(ANN, {}, None, MANY)
    assert (run.id, run.status, run.last_seq, run.fence, run.attempts) == (request.run_id, Status.QUEUED, 1, 0, 0)
    assert (run.owner, run.face, run.lane_key) == (ANN, "native", request.lane_key)
    assert (run.thread_id, run.trigger_message_id) == (thread.id, request.message.id)
    assert run.created_at == request.created_at
    assert (run.started_at, run.finished_at, run.worker_id, run.cancel_requested_at) == (None, None, None, None)
    assert await store.list_messages(thread.id) == [request.message]


async def test_a_run_needs_no_thread(store: Store) -> None:
    run = await running(store, a_post(agent="tokens"))
    assert (run.thread_id, run.trigger_message_id, run.parent_id) == (None, None, None)
    assert run.agent == "tokens"


async def test_the_agent_is_the_one_named_else_the_threads_else_the_default(store: Store) -> None:
    plain, with_agent = await store.create_thread(a_thread()), await store.create_thread(a_thread(agent="greeter"))
    named = await post(store, a_post(with_agent, agent="poet"))
    of_thread = await post(store, a_post(with_agent))
    default = await post(store, a_post(plain))
    assert (await store.get_run(ANN, named)).agent == "poet"
    assert (await store.get_run(ANN, of_thread)).agent == "greeter"
    assert (await store.get_run(ANN, default)).agent == "default"
    [event] = await store.read(of_thread, 0, MANY)
    assert isinstance(event.payload, RunQueued)
    assert event.payload.agent == "greeter"


async def test_a_post_to_an_unknown_thread_leaves_nothing_behind(store: Store) -> None:
    request = a_post(new_id(), key=a_key())
    [refused] = await store.accept([request])
    assert isinstance(refused, NotFound)
    assert await store.list_runs(ANN, {}, None, MANY) == []
    assert request.thread_id is not None
    assert await store.list_messages(request.thread_id) == []
    assert await log(store, request.run_id) == []
    thread = await store.create_thread(a_thread())
    [accepted] = await store.accept([a_post(thread, key=a_key())])
    assert isinstance(accepted, Accepted)
    assert not accepted.repeated


async def test_a_post_to_a_thread_of_another_owner_is_not_found(store: Store) -> None:
    thread = await store.create_thread(a_thread(BOB))
    [refused] = await store.accept([a_post(thread, owner=ANN)])
    assert isinstance(refused, NotFound)
    assert await store.list_messages(thread.id) == []


async def test_a_repeated_key_returns_the_first_run_and_writes_nothing(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    first = a_post(thread, key=a_key())
    again = a_post(thread, key=a_key())
    await store.accept([first])
    assert await store.accept([again]) == [Accepted(first.run_id, None, repeated=True)]
    assert [run.id for run in await store.list_runs(ANN, {}, None, MANY)] == [first.run_id]
    assert await store.list_messages(thread.id) == [first.message]
    assert (await store.get_thread(ANN, thread.id)).head_run_id == first.run_id


async def test_a_key_still_counts_when_its_run_has_moved_on(store: Store) -> None:
    run = await running(store, a_post(key=a_key()))
    assert await store.accept([a_post(key=a_key())]) == [Accepted(run.id, None, repeated=True)]


async def test_one_key_for_two_different_requests_is_refused(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    first = await post(store, a_post(thread, key=a_key(digest="one")))
    [refused] = await store.accept([a_post(thread, key=a_key(digest="two"))])
    assert isinstance(refused, KeyReused)
    assert [run.id for run in await store.list_runs(ANN, {}, None, MANY)] == [first]
    assert len(await store.list_messages(thread.id)) == 1


async def test_a_key_repeated_within_one_call_makes_one_run(store: Store) -> None:
    first, again = a_post(key=a_key()), a_post(key=a_key())
    one, two = await store.accept([first, again])
    assert isinstance(one, Accepted)
    assert not one.repeated
    assert two == Accepted(first.run_id, None, repeated=True)


async def test_the_same_key_from_many_callers_at_once_makes_one_run(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    answers: list[Accepted | RunyardError] = []

    async def call() -> None:
        answers.extend(await store.accept([a_post(thread, key=a_key())]))

    async with create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(call)
    [run] = await store.list_runs(ANN, {}, None, MANY)
    accepted = [answer for answer in answers if isinstance(answer, Accepted)]
    assert [answer.run_id for answer in accepted] == [run.id] * 10
    assert sorted(answer.repeated for answer in accepted) == [False] + [True] * 9


async def test_each_post_of_a_call_succeeds_or_fails_alone(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    await post(store, a_post(key=a_key(digest="one")))
    good, better = a_post(thread, "good"), a_post(thread, "better")
    outcomes = await store.accept([good, a_post(new_id()), a_post(key=a_key(digest="two")), better])
    assert [type(outcome) for outcome in outcomes] == [Accepted, NotFound, KeyReused, Accepted]
    assert [message.text for message in await store.list_messages(thread.id)] == ["good", "better"]
    assert [(await store.get_run(ANN, run_id)).status for run_id in (good.run_id, better.run_id)] == ["queued"] * 2


async def test_runs_of_one_call_are_queued_and_chained_in_the_order_given(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    requests = [a_post(thread, f"{n}") for n in range(3)]
    # The ids do not decide: the last one made is the first one given.
    requests.reverse()
    await store.accept(requests)
    runs = [await store.get_run(ANN, request.run_id) for request in requests]
    assert [run.parent_id for run in runs] == [None, runs[0].id, runs[1].id]
    assert runs[0].pos < runs[1].pos < runs[2].pos
    assert (await store.get_thread(ANN, thread.id)).head_run_id == runs[2].id
    assert (await claimed(store)).id == runs[0].id


async def test_many_callers_at_once_queue_in_one_unbroken_chain(store: Store) -> None:
    thread = await store.create_thread(a_thread())

    async def call() -> None:
        await store.accept([a_post(thread), a_post(thread)])

    async with create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(call)
    runs = sorted(await store.list_runs(ANN, {}, None, MANY), key=lambda run: run.pos)
    assert len({run.pos for run in runs}) == len(runs) == 16
    assert [run.parent_id for run in runs] == [None, *(run.id for run in runs[:-1])]
    assert (await store.get_thread(ANN, thread.id)).head_run_id == runs[-1].id


async def test_a_key_is_forgotten_at_the_given_age_and_not_before(store: Store) -> None:
    first = await post(store, a_post(key=a_key()))
    thread = await store.create_thread(a_thread(), a_key("thread"))
    await a_moment()
    await store.forget_keys(MINUTE)
    assert await store.accept([a_post(key=a_key())]) == [Accepted(first, None, repeated=True)]
    await store.forget_keys(0)
    assert await post(store, a_post(key=a_key(digest="other"))) != first
    assert await store.create_thread(a_thread(), a_key("thread")) != thread
