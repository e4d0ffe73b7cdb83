"""One stream over a run and its children: every event once, a child between its request and its answer, and a cursor
that resumes exactly at every position."""

from __future__ import annotations

import asyncio

import pytest

from runyard.base.clock import SystemClock
from runyard.buses.memory import MemoryBus
from runyard.domain.events import (
    Drafter,
    Event,
    ModelToken,
    Payload,
    RunFinished,
    RunQueued,
    WaitAnswered,
    WaitRequested,
    place,
)
from runyard.domain.runs.run import Run, Status
from runyard.engine.log.outbox import Outbox
from runyard.engine.log.publications import Publications
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.log.stream import Pause, Streams
from runyard.engine.log.tail import Tail
from runyard.engine.log.tree import TreeItem, Trees, parsed_cursor
from runyard.errors import BadRequest
from runyard.stores.memory import MemoryStore
from runyard.telemetry.metrics import Metrics

DRAFT = Drafter(SystemClock(), "worker")
DONE = RunFinished("done", "end_turn")


class Logs(MemoryStore):
    """A store with logs that a test writes."""

    def add(self, run_id: str, *payloads: Payload) -> None:
        events = self._events.setdefault(run_id, [])
        events += place(run_id, len(events) + 1, [DRAFT(payload) for payload in payloads])
        is_over = events[-1].type == "run.finished"
        self._runs[run_id] = Run(
            id=run_id,
            owner="ann",
            face="native",
            lane_key=f"run:{run_id}",
            pos=1,
            agent="a",
            status=Status.DONE if is_over else Status.RUNNING,
            created_at=0,
            last_seq=len(events),
        )
        self._outbox.open(run_id)


def request(name: str) -> WaitRequested:
    return WaitRequested(f"w-{name}", f"run {name}#1", "child", name, child=name)


def answer(name: str) -> WaitAnswered:
    return WaitAnswered(f"w-{name}", "answered", name, {"text": name})


def family() -> Logs:
    logs = Logs(SystemClock())
    logs.add("root", RunQueued("a"), request("x"), request("y"), answer("x"), ModelToken("t"), answer("y"), DONE)
    logs.add("x", RunQueued("x"), request("z"), answer("z"), DONE)
    logs.add("y", RunQueued("y"), ModelToken("1"), ModelToken("2"), DONE)
    logs.add("z", RunQueued("z"), ModelToken("deep"), DONE)
    return logs


def trees(logs: Logs) -> Trees:
    publications = Publications()
    outbox = Outbox(logs, publications, MemoryBus(), SystemClock(), Metrics(), poll_seconds=60, batch=100)
    tail = Tail(outbox, 0)
    return Trees(Streams(logs, tail, publications), logs, Snapshots(logs))


async def read(logs: Logs, cursor: str | None = None) -> list[TreeItem]:
    opened = await trees(logs).follow(await logs.get_run("ann", "root"), parsed_cursor(cursor))
    follower = opened()
    items: list[TreeItem] = []
    try:
        async with asyncio.timeout(30):
            while not isinstance(found := await follower.next(30), Pause):
                items += found
        assert found is Pause.END
        return items
    finally:
        follower.close()


def places(items: list[TreeItem]) -> list[tuple[str, int]]:
    return [(event.run_id, event.seq) for event, _ in items]


async def test_every_event_comes_once_and_a_child_before_its_answer() -> None:
    logs = family()
    items = await read(logs)
    found = places(items)
    assert sorted(found) == sorted((e.run_id, e.seq) for log in logs._events.values() for e in log)
    order = {place: n for n, place in enumerate(found)}
    for name, parent, asked, answered in (("x", "root", 2, 4), ("y", "root", 3, 6), ("z", "x", 2, 3)):
        length = len(logs._events[name])
        assert order[parent, asked] < order[name, 1] < order[name, length] < order[parent, answered]
        assert [seq for run, seq in found if run == name] == list(range(1, length + 1))


async def test_a_reader_that_reconnects_at_any_event_gets_exactly_the_rest() -> None:
    logs = family()
    items = await read(logs)
    for n, (_, cursor) in enumerate(items[:-1]):
        rest = places(await read(logs, cursor))
        assert sorted(rest) == sorted(places(items)[n + 1 :]), cursor


async def test_the_cursor_forgets_children_whose_answer_was_sent() -> None:
    assert (await read(family()))[-1][1] == "7"


async def test_a_child_that_is_not_queued_yet_is_waited_for() -> None:
    logs = family()
    late: list[Event] = logs._events.pop("y")
    run = logs._runs.pop("y")
    reading = asyncio.create_task(read(logs))
    for _ in range(50):
        await asyncio.sleep(0)
    logs._events["y"], logs._runs["y"] = late, run
    assert ("y", 4) in places(await reading)


@pytest.mark.parametrize("cursor", ["x", "1,", "1,1", "1,1:x", "1;1:2", "-1", "1,1..2:3", "9" * 30])
def test_an_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadRequest):
        parsed_cursor(cursor)
