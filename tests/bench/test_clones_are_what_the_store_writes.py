"""A database that was filled for a benchmark is one the store could have written: its clones are claimed, read and
ended like the template they were made from."""

from __future__ import annotations

from msgspec.structs import replace

from bench.large import claims, logs
from bench.large.fill import filled
from runyard.domain.runs.run import Status
from tests.store.factories import ANN, MANY, Writer, a_worker, written

CLONES = 3


def nothing(_: str) -> None: ...


async def test_cloned_queues_are_claimed_in_order(pg_database: str) -> None:
    store = await filled(pg_database, claims.template, CLONES, nothing)
    worker = await a_worker(store)
    first = await store.claim(worker, MANY, suspects=False)
    assert len({claim.run.lane_key for claim in first}) == len(first) == CLONES + 1, "one of each lane"
    assert [c.run.id for c in first] == sorted(c.run.id for c in first), "the oldest lane comes first"
    for claim in first:
        assert claim.message is not None
        assert claim.message.run_id == claim.run.id
        assert [event.seq for event in await store.read(claim.run.id, 0, MANY)] == [1]
        await written(store, Writer(claim.run).finish(answer="done"))
    second = await store.claim(worker, MANY, suspects=False)
    assert {claim.run.parent_id for claim in second} == {claim.run.id for claim in first}
    await store.close()


async def test_cloned_logs_equal_their_template(pg_database: str) -> None:
    store = await filled(pg_database, logs.template, CLONES, nothing)
    runs = await store.list_runs(ANN, {}, None, MANY)
    assert len(runs) == CLONES + 1
    original, *clones = runs
    template = await store.read(original.id, 0, MANY)
    assert len(template) == logs.EVENTS
    for run in clones:
        assert run.status is Status.DONE
        log = await store.read(run.id, 0, MANY)
        assert [replace(event, run_id=original.id, id="") for event in log] == [replace(e, id="") for e in template]
    await store.close()


async def test_a_batch_of_claims_leaves_the_queue_as_it_was(pg_database: str) -> None:
    store = await filled(pg_database, claims.template, CLONES, nothing)
    row = await claims.batch(store, pg_database, 8, claims_each=2)
    assert row.took_ms_p50
    assert row.buffers
    queued = await store.list_runs(ANN, {"status": "queued"}, None, MANY)
    assert len(queued) == (CLONES + 1) * claims.PER_LANE
    await store.close()
