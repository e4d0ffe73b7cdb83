"""On Postgres one statement accepts plain posts. It must write what the script writes, which is its specification."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, cast

import asyncpg
import pytest
from msgspec.structs import replace

from runyard.domain.runs.run import Run, thread_lane
from runyard.errors import ClockAhead, NotFound, QueueFull
from runyard.store import Accepted, AgentFilter, Post, Room
from runyard.stores.postgres.store import PostgresStore
from tests.store.agreement.store_pairs import seen
from tests.store.conftest import empty, postgres_store
from tests.store.factories import ANN, BOB, Writer, a_key, a_post, a_thread, a_worker, die, written
from tests.store.raw_sql import OpenDatabase
from tests.support.eventually import eventually

pytestmark = pytest.mark.postgres

TABLES = {
    "runs": "id",
    "lanes": "key",
    "threads": "id",
    "messages": "id",
    "run_outbox": "run_id",
    "run_events": "run_id, seq",
}
# Each acceptance makes new events, and the database's clock advances.
MADE_HERE = {"ready_at", "ready_since", "updated_at", "started_at", "finished_at", "worker_id"}
Accept = Callable[[PostgresStore, Sequence[Post], Room | None], Awaitable[Sequence[object]]]


async def by_script(store: PostgresStore, posts: Sequence[Post], room: Room | None) -> Sequence[object]:
    return await store._accept_by_script(posts, room)


async def by_statement(store: PostgresStore, posts: Sequence[Post], room: Room | None) -> Sequence[object]:
    accepted = await store._accept_fast(posts, room)
    assert accepted is not None, "the statement refused plain posts"
    return accepted


async def content(database: OpenDatabase) -> dict[str, list[dict[str, Any]]]:
    """All rows, with ids of events and times of the database's clock as whether there is one."""
    found = {}
    for table, order in TABLES.items():
        hidden = MADE_HERE | ({"id", "ts"} if table == "run_events" else set())
        rows = await database.rows(f"select * from {table} order by {order}")
        found[table] = [
            {key: value is not None if key in hidden else value for key, value in row.items()} for row in rows
        ]
    return found


async def scene(store: PostgresStore, accept: Accept, posts: dict[str, Post], agents: AgentFilter | None) -> list[Any]:
    """Accept groups of posts, in lanes that are new, idle, busy, and busy with a queue."""
    room = Room(await a_worker(store), 10, {"default": "v1"}, agents)
    answers = [await accept(store, [posts["busy"], posts["idle"], posts["bob"]], room)]
    idle = cast(Accepted, answers[0][1]).claim
    if idle is not None:
        await written(store, Writer(idle.run).finish())
    answers.append(await accept(store, [posts["new"], posts["idle again"], posts["queued"]], room))
    answers.append(await accept(store, [posts["queued behind"]], None))
    answers.append(await accept(store, [posts["full"]], replace(room, places=0)))
    gone = await a_worker(store)
    await die(store, gone)
    answers.append(await accept(store, [posts["dead worker"]], Room(gone, 10)))
    return [seen(each, exact=False) for each in answers] + [
        [None if claim is None else seen(replace(claim.run, worker_id=None), exact=False) for claim in claims]
        for claims in [[cast(Accepted, each).claim for each in group] for group in answers]
    ]


@pytest.mark.parametrize("agents", [None, AgentFilter(["other"])], ids=["all agents", "one agent"])
async def test_the_statement_writes_what_the_script_writes(postgres_dsn: str, agents: AgentFilter | None) -> None:
    threads = [a_thread() for _ in range(5)] + [a_thread(BOB, agent="default")]
    busy, idle, new, full, dead, bob = threads
    hard = 'quotes " \\ {} , null \n and ünïcode'
    posts = {
        "busy": a_post(busy, hard),
        "idle": a_post(idle, agent="other"),
        "bob": a_post(bob, owner=BOB),
        "new": replace(a_post(new), has_client_tools=True),
        "idle again": a_post(idle),
        "queued": a_post(busy),
        "queued behind": a_post(busy, agent="other"),
        "full": a_post(full),
        "dead worker": a_post(dead),
    }
    found = []
    for accept in by_statement, by_script:
        await empty(postgres_dsn)
        store = cast(PostgresStore, postgres_store(postgres_dsn))
        await store.open()
        for thread in threads:
            await store.create_thread(thread)
        answers = await scene(store, accept, posts, agents)
        found.append((answers, await content(OpenDatabase(store, postgres_dsn))))
        await store.close()
    (answers, rows), (expected_answers, expected_rows) = found
    assert answers == expected_answers
    assert rows == expected_rows
    assert [len(rows[table]) for table in ("runs", "messages", "run_outbox")] == [9, 9, 9]


async def started(store: PostgresStore, post: Post) -> Run:
    """Have a post accepted and its run claimed."""
    [accepted] = await store.accept([post], Room(await a_worker(store), 1))
    assert isinstance(accepted, Accepted)
    assert accepted.claim is not None
    return accepted.claim.run


async def refused(store: PostgresStore, *posts: Post, room: Room | None = None) -> Sequence[object]:
    """Return the answers of the script to posts that the statement leaves to it."""
    assert await store._accept_fast(posts, room) is None
    return await store.accept(posts, room)


@pytest.fixture
async def store(postgres_dsn: str) -> AsyncIterator[PostgresStore]:
    opened = cast(PostgresStore, postgres_store(postgres_dsn))
    await opened.open()
    yield opened
    await opened.close()


async def test_one_post_that_is_wrong_leaves_the_whole_group_to_the_script(store: PostgresStore) -> None:
    thread = await store.create_thread(a_thread())
    good, missing = a_post(thread), a_post(a_thread())
    first, second = await refused(store, good, missing)
    assert isinstance(first, Accepted)
    assert isinstance(second, NotFound)
    foreign = a_post(thread, owner=BOB)
    assert isinstance((await refused(store, foreign))[0], NotFound)


async def test_a_full_lane_and_an_id_from_the_future_are_refused(store: PostgresStore) -> None:
    thread = await store.create_thread(a_thread())
    await store.accept([replace(a_post(thread), most_queued=1)])
    assert isinstance((await refused(store, replace(a_post(thread), most_queued=1)))[0], QueueFull)
    other = await store.create_thread(a_thread())
    later = f"{int(a_post().run_id[:8], 16) + 0x100000:08x}"
    late = a_post(other)
    run_id = later + late.run_id[8:]
    assert late.message is not None
    late = replace(late, run_id=run_id, message=replace(late.message, run_id=run_id))
    with pytest.raises(ClockAhead):
        await refused(store, late)


async def test_the_agent_of_the_thread_is_found_by_the_script(store: PostgresStore) -> None:
    thread = await store.create_thread(a_thread(agent="writer"))
    [accepted] = await refused(store, a_post(thread))
    assert (await store.get_run(ANN, cast(Accepted, accepted).run_id)).agent == "writer"


async def test_posts_that_are_not_plain_are_left_to_the_script(store: PostgresStore) -> None:
    thread, other = await store.create_thread(a_thread()), await store.create_thread(a_thread())
    worker = await a_worker(store)
    for posts, room in (
        ([a_post()], None),
        ([a_post(thread, key=a_key())], None),
        ([replace(a_post(thread), external_id="name")], None),
        ([replace(a_post(thread), lane_key=thread_lane(other.id))], None),
        ([a_post(thread), a_post(thread)], None),
        ([a_post(thread), a_post(other)], Room(worker, 1)),
        ([replace(a_post(thread), most_queued=9), a_post(other)], None),
    ):
        assert await store._accept_fast(posts, room) is None, posts


async def test_a_thread_that_is_deleted_meanwhile_ends_the_statement(store: PostgresStore, postgres_dsn: str) -> None:
    """The statement sees the thread, waits for its lane, and finds that the thread is gone."""
    thread = await store.create_thread(a_thread())
    await written(store, Writer(await started(store, a_post(thread))).finish())
    other = await asyncpg.connect(postgres_dsn)
    deletion = other.transaction()
    await deletion.start()
    await other.execute("select 1 from lanes where key = $1 for update", thread_lane(thread.id))
    accepting = asyncio.ensure_future(store._accept_fast([a_post(thread)], None))
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    await eventually("the statement waits for the lane", lambda: other.fetchval(waiting))
    await other.execute("delete from threads where id = $1", thread.id)
    await deletion.commit()
    await other.close()
    assert await accepting is None
    database = OpenDatabase(store, postgres_dsn)
    assert await database.values("select runnable from lanes") == [0]
