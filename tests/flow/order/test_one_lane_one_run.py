"""Two workers, one lane: strictly first in first out, never two at a time."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tests.support.scenario.flow import Flow

pytestmark = pytest.mark.invariant(4)


@pytest.mark.req("S0.38")
async def test_two_workers_never_work_on_one_thread_at_once(flow: Flow) -> None:
    pods = [await flow.start("serve") for _ in range(2)]
    threads = [await flow.thread() for _ in range(3)]
    posted: dict[str, list[str]] = {thread: [] for thread in threads}
    for n in range(10):
        made = await asyncio.gather(*[flow.post(["tokens", 3, 2], thread=t, pod=pods[n % 2]) for t in threads])
        for thread, run_id in zip(threads, made, strict=True):
            posted[thread].append(run_id)
    for runs in posted.values():
        await flow.reached(runs[-1], "done")
    began = {run_id: (int(at), pid) for run_id, pid, at in flow.notes.read("began")}
    stopped = {run_id: int(at) for run_id, _, at in flow.notes.read("stopped")}
    for runs in posted.values():
        assert sorted(runs, key=lambda run_id: began[run_id]) == runs, "first in, first out"
        for before, after in pairwise(runs):
            assert stopped[before] < began[after][0], "one ends before the next begins"
    assert len({pid for _, pid in began.values()}) == 2, "both workers had their share, or this shows nothing"


async def test_one_ready_lane_is_claimed_by_exactly_one_of_many_workers(flow: Flow) -> None:
    """Fault 9: they all look at the same moment."""
    await flow.start("api")
    for _ in range(4):
        await flow.start("worker", poll_seconds=0.01)
    for _ in range(5):
        runs = await asyncio.gather(*[flow.post(["tokens", 1]) for _ in range(4)])
        for run_id in runs:
            await flow.reached(run_id, "done")
    began = [run_id for run_id, _, _ in flow.notes.read("began")]
    assert sorted(began) == sorted(flow.evidence.accepted), "every run began once"
