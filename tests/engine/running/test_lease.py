"""A worker acts for a run only while its lease holds, by a clock that also counts while it was frozen."""

import pytest

from runyard.agents.execution import Canceled
from runyard.base.clock import since_boot
from runyard.domain.runs.run import Run, Status
from runyard.engine.running.lease import Lease
from runyard.errors import Fenced, Unavailable
from runyard.store import Beat


def run(fence: int = 1, cancel: int | None = None) -> Run:
    return Run(
        id="r",
        owner="me",
        face="native",
        lane_key="l",
        pos=1,
        agent="a",
        status=Status.RUNNING,
        created_at=0,
        fence=fence,
        cancel_requested_at=cancel,
    )


class Beats:
    """A store that answers heartbeats, and takes `seconds` for it."""

    def __init__(self, beat: Beat) -> None:
        self.beat = beat
        self.time = 0.0
        self.heartbeats = 0
        self.seconds = [0.0]
        self.away = 0  # so many heartbeats fail

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        self.heartbeats += 1
        self.time += self.seconds.pop(0) if self.seconds else 0.0
        if self.heartbeats <= self.away:
            raise Unavailable
        return self.beat

    def lease(self) -> Lease:
        return Lease(self, "w", 10, lambda: self.time)  # type: ignore[arg-type]


async def test_a_quick_commit_asks_nothing() -> None:
    store = Beats(Beat(True))
    await store.lease().confirm(run(), 0)
    assert not store.heartbeats


async def test_a_lease_that_ran_out_is_not_acted_upon() -> None:
    store = Beats(Beat(True, [run()]))
    lease = store.lease()
    store.time = 8.0
    with pytest.raises(Fenced):
        await lease.confirm(run(), 8.0)
    assert not store.heartbeats, "a lease that ran out is over, whatever the store might say"


async def test_after_a_slow_commit_the_store_is_asked() -> None:
    store = Beats(Beat(True, [run()]))
    lease = store.lease()
    store.time = 5.0
    await lease.confirm(run(), 0)
    assert store.heartbeats == 1


async def test_an_answer_that_took_long_is_asked_for_again() -> None:
    store = Beats(Beat(True, [run()]))
    lease = store.lease()
    store.time, store.seconds = 5.0, [2.0, 0.0]
    await lease.confirm(run(), 0)
    assert store.heartbeats == 2


async def test_a_database_that_is_briefly_unavailable_is_asked_again() -> None:
    store = Beats(Beat(True, [run()]))
    lease = store.lease()
    store.time, store.away = 5.0, 3
    await lease.confirm(run(), 0)
    assert store.heartbeats == 4


async def test_a_database_that_is_unavailable_until_the_lease_expires_ends_the_claim() -> None:
    store = Beats(Beat(True, [run()]))
    lease = store.lease()
    store.time, store.seconds, store.away = 5.0, [1.0] * 5, 5
    with pytest.raises(Fenced):
        await lease.confirm(run(), 0)


@pytest.mark.parametrize("beat", [Beat(False), Beat(True), Beat(True, [run(fence=2)])])
async def test_a_run_that_is_not_ours_is_fenced(beat: Beat) -> None:
    store = Beats(beat)
    lease = store.lease()
    store.time = 5.0
    with pytest.raises(Fenced):
        await lease.confirm(run(), 0)


async def test_a_run_that_is_to_be_canceled_does_not_act() -> None:
    store = Beats(Beat(True, [run(cancel=1)]))
    lease = store.lease()
    store.time = 5.0
    with pytest.raises(Canceled):
        await lease.confirm(run(), 0)


def test_a_worker_measures_its_lease_by_the_clock_that_counts_suspended_time() -> None:
    assert Lease(Beats(Beat(True)), "w", 5).now is since_boot  # type: ignore[arg-type]
