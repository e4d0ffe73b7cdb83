"""A store that is closed and opened again has lost nothing, and continues where it was."""

from collections.abc import Awaitable, Callable

from runyard.domain.runs.append import Appended, Repeated
from runyard.domain.runs.run import Status
from runyard.store import Accepted, Document, Store
from tests.store.factories import (
    ANN,
    MANY,
    Writer,
    a_key,
    a_post,
    a_thread,
    append,
    claimed,
    claims,
    decide,
    ended,
    post,
    running,
    token,
    waiting,
    written,
)

Reopen = Callable[[], Awaitable[Store]]


async def test_an_open_store_answers(store: Store, reopen: Reopen) -> None:
    await store.ping()
    await (await reopen()).ping()


async def test_threads_runs_and_logs_are_there_again(store: Store, reopen: Reopen) -> None:
    thread = await store.create_thread(a_thread())
    done = await ended(store, a_post(thread))
    run, approval = await waiting(store, a_post(thread))
    queued = await store.get_run(ANN, await post(store, a_post(thread)))
    messages = await store.list_messages(thread.id)
    events = await store.read(run.id, 0, MANY)
    await store.put_documents("cvs", [Document("cv_001", "Ada", "Python")])

    store = await reopen()

    assert (await store.get_thread(ANN, thread.id)).head_run_id == queued.id
    assert await store.list_runs(ANN, {}, None, MANY) == [queued, run, done]
    assert await store.list_messages(thread.id) == messages
    assert await store.read(run.id, 0, MANY) == events
    assert await store.get_wait(ANN, approval.id) == approval
    assert [hit.id for hit in await store.search("cvs", "python", 5)] == ["cv_001"]


async def test_a_key_is_remembered(store: Store, reopen: Reopen) -> None:
    run_id = await post(store, a_post(key=a_key()))
    store = await reopen()
    assert await store.accept([a_post(key=a_key())]) == [Accepted(run_id, None, repeated=True)]


async def test_a_waiting_run_waits_on_and_comes_back(store: Store, reopen: Reopen) -> None:
    run, approval = await waiting(store, a_post(lane="agent:a"))
    await post(store, a_post(lane="agent:a"))
    store = await reopen()
    assert await claims(store) == []
    await decide(store, approval)
    assert (await claimed(store)).id == run.id


async def test_a_claim_outlives_the_connection_that_made_it(store: Store, reopen: Reopen) -> None:
    """Fence and batch number are stored: until another worker takes the run, the worker with the fence may write."""
    run = await running(store)
    writer = Writer(run)
    part = writer.part(token("a"))
    await written(store, part)
    store = await reopen()
    assert await append(store, part) == Repeated(2)
    assert await append(store, writer.part(token("b"))) == Appended(3, 3)
    await written(store, writer.finish())
    assert (await store.get_run(ANN, run.id)).status is Status.DONE


async def test_maintenance_changes_no_data(store: Store) -> None:
    run, approval = await waiting(store)
    await store.maintain()
    await store.maintain()
    assert await store.get_run(ANN, run.id) == run
    assert await store.get_wait(ANN, approval.id) == approval
    assert len(await store.read(run.id, 0, MANY)) == run.last_seq
