"""An approval without a decision before its deadline expires, once, with an event."""

import pytest
from msgspec.structs import replace

from runyard.domain.events import ApprovalDecided, Draft
from runyard.domain.runs.run import Run, Status
from runyard.domain.wait import Wait, WaitStatus
from runyard.errors import AlreadyDecided, RunEnded
from runyard.store import Store
from tests.store.factories import (
    ANN,
    MANY,
    MINUTE,
    Writer,
    an_approval,
    approval_request,
    claimed,
    clock,
    decide,
    draft,
    ending,
    log,
    running,
    waiting,
    written,
)


def late(approval: Wait) -> tuple[WaitStatus, Draft]:
    return "expired", draft(ApprovalDecided(approval.id, "expired", "runyard"))


async def asking(store: Store, in_ms: int, count: int = 1) -> tuple[Run, list[Wait]]:
    run = await running(store)
    approvals = [replace(an_approval(run), expires_at=clock.now_ms() + in_ms) for _ in range(count)]
    await written(store, Writer(run).park(*approvals))
    return run, approvals


async def test_an_approval_is_decided_as_expired_and_the_run_continues(store: Store) -> None:
    run, [approval] = await asking(store, -MINUTE)
    [expired] = (await store.expire(MANY, late))[0]
    assert (expired.id, expired.state, expired.answered_by) == (approval.id, "expired", None)
    assert (await log(store, run.id))[-1] == "approval.decided"
    assert (await claimed(store)).id == run.id
    assert (await store.expire(MANY, late))[0] == []
    with pytest.raises(AlreadyDecided):
        await decide(store, approval)


async def test_not_before_its_time_and_never_without_one(store: Store) -> None:
    await asking(store, MINUTE)
    run, _ = await waiting(store)
    assert (await store.expire(MANY, late))[0] == []
    assert (await store.get_run(ANN, run.id)).status is Status.WAITING


async def test_several_of_one_run_expire_together(store: Store) -> None:
    run, _ = await asking(store, -MINUTE, count=3)
    assert len((await store.expire(MANY, late))[0]) == 3
    assert (await log(store, run.id)).count("approval.decided") == 3
    assert (await store.get_run(ANN, run.id)).status is Status.QUEUED
    assert [run.id for run in [await claimed(store)]] == [run.id]


async def test_an_approval_that_was_asked_and_not_parked_on_only_gets_its_event(store: Store) -> None:
    run = await running(store)
    approval = replace(an_approval(run), expires_at=clock.now_ms() - MINUTE)
    await written(store, Writer(run).part(approval_request(approval), waits=[approval]))
    assert len((await store.expire(MANY, late))[0]) == 1
    assert (await store.get_run(ANN, run.id)).status is Status.RUNNING


async def test_an_approval_whose_run_ended_is_void_and_says_so(store: Store) -> None:
    run, [approval] = await asking(store, -MINUTE)
    await store.cancel(ANN, run.id, 0, ending)
    assert (await store.expire(MANY, late))[0] == []
    with pytest.raises(RunEnded):
        await decide(store, approval)


async def test_the_open_ones_of_one_run_are_listed(store: Store) -> None:
    run, approvals = await asking(store, MINUTE, count=2)
    other, _ = await waiting(store)
    assert len(await store.list_waits(ANN, None, MANY)) == 3
    assert {each.id for each in await store.list_waits(ANN, None, MANY, run.id)} == {each.id for each in approvals}
    assert len(await store.list_waits(ANN, None, 1, other.id)) == 1
