"""Messages for a run under way, in real processes: whenever they come and whatever dies, each is answered once."""

from __future__ import annotations

import asyncio
import re
from collections import Counter

import pytest

from tests.support.checker.wait_invariants import ENDED
from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow

# The worker stands still before or after the commit that has the event, while the message comes.
MOMENTS = [
    "after.claim:1",
    "before.step.started:1",
    "after.model.message:1",
    "before.tool.started:1",
    "after.tool.finished:1",
    "before.tool.finished:2",
    "after.step.started:3",
    "after.model.token:1",
    "before.done:1",
]
KILLED = [
    "after.message.taken:1",
    "before.message.taken:1",
    "after.model.message:2",
    "after.model.message:3",
    "before.done:1",
    "after.done:1",
]


async def answered(flow: Flow, thread: str) -> Counter[str]:
    """How often each message of the thread was answered, once all its runs have ended."""

    async def ended() -> bool:
        rows = await flow.database.rows("select thread_id, status from runs")
        return all(row["status"] in ENDED for row in rows if row["thread_id"] == thread)

    await eventually("all runs of the thread have ended", ended, 40)
    rows = await flow.database.rows("select thread_id, role, text from messages")
    answers = [row["text"] for row in rows if row["thread_id"] == thread and row["role"] == "assistant"]
    return Counter(text for answer in answers for text in re.findall("<([^>]*)>", answer))


async def started(flow: Flow, text: str = "m0") -> tuple[str, str]:
    """A thread whose run is under way."""
    thread = await flow.thread()
    response = await flow.request(
        "POST", f"/api/threads/{thread}/messages", json={"content": text, "agent": "steerable"}
    )
    return thread, flow.accepted(response)


@pytest.mark.invariant(14)
@pytest.mark.parametrize("moment", MOMENTS)
async def test_at_every_boundary(any_flow: Flow, moment: str) -> None:
    flow = any_flow
    point = moment.rpartition(":")[0]
    await flow.first(fault=f"{moment}:hang")
    posting = asyncio.create_task(started(flow))
    await flow.struck(point)
    if point == "after.claim" and flow.is_sqlite:  # the request that starts the run waits for its own commit
        flow.notes.open_gate(point)
    thread, run_id = await posting
    reader = flow.follow(run_id)
    is_free = point == "after.claim" and flow.is_sqlite  # its gate is open, so the run may end before the message comes
    steered = await flow.steer(thread, "m1", agent="steerable")
    assert steered == (run_id, True) or is_free
    flow.notes.open_gate(point)
    assert await answered(flow, thread) == {"m0": 1, "m1": 1}
    await reader.end()
    assert reader.count("message.received") == int(steered[1])
    if moment not in MOMENTS[-3:] and not is_free:  # at the last ones the worker has nothing more to commit
        assert reader.count("message.taken") == 1, "the run under way has answered both"
        assert len(await flow.database.rows("select id from runs")) == 1


@pytest.mark.invariant(14)
@pytest.mark.parametrize("moment", KILLED)
async def test_with_a_kill_in_between(any_flow: Flow, moment: str) -> None:
    flow = any_flow
    worker = await flow.first(fault=f"after.tool.finished:1:hang {moment}")
    thread, run_id = await started(flow)
    reader = flow.follow(run_id)
    await flow.struck("after.tool.finished")
    assert await flow.steer(thread, "m1") == (run_id, True)
    flow.notes.open_gate("after.tool.finished")
    await worker.end()
    await flow.next()
    assert await answered(flow, thread) == {"m0": 1, "m1": 1}
    await reader.end()
    assert (reader.count("message.received"), reader.count("message.taken")) == (1, 1)
    taken, asked = reader.types.index("message.taken"), [n for n, t in enumerate(reader.types) if t == "tool.finished"]
    assert taken > asked[0], "never between a call and its result"


@pytest.mark.invariant(14)
async def test_killed_before_it_took_the_message(any_flow: Flow) -> None:
    flow = any_flow
    worker = await flow.first(fault="after.done:1:hang")
    thread, run_id = await started(flow)
    await flow.struck("after.done")
    run, steered = await flow.steer(thread, "m1", agent="steerable")
    assert not steered, "the run has ended, though its worker does not know"
    assert run != run_id
    await worker.kill()
    await flow.next()
    assert await answered(flow, thread) == {"m0": 1, "m1": 1}


@pytest.mark.invariant(14)
async def test_at_the_very_end_again_and_again(any_flow: Flow) -> None:
    """Messages race the end of their run. Some are in time, some start the next run, and none is lost."""
    flow = any_flow
    await flow.start("serve")
    if not flow.is_sqlite:
        await flow.start("serve")
    kinds: Counter[bool] = Counter()

    async def race(n: int) -> None:
        thread, run_id = await started(flow)
        texts = [f"m{k}" for k in range(1, 4)]
        for k, text in enumerate(texts):
            if k == 0 and n % 2:
                reader = flow.follow(run_id)
                await reader.tokens(3)  # the last turn has begun
            _, steered = await flow.steer(thread, text, flow.apis[(n + k) % len(flow.apis)], "steerable")
            kinds[steered] += 1
        assert await answered(flow, thread) == dict.fromkeys(["m0", *texts], 1)

    for first in range(0, 40, 4):
        await asyncio.gather(*(race(n) for n in range(first, first + 4)))
    assert kinds[True]


async def test_a_python_agent_reads_them_once_and_replays_what_it_read(any_flow: Flow) -> None:
    flow = any_flow
    worker = await flow.first()
    thread = await flow.thread()
    program = (["messages"], ["wait", "one"], ["messages"], ["wait", "two"], ["messages"], ["step", "s"])
    run_id = await flow.post(*program, thread=thread)
    await flow.at_gate("one")
    assert (await flow.steer(thread, "a"))[1]
    assert (await flow.steer(thread, "b"))[1]
    flow.notes.open_gate("one")
    await flow.at_gate("two")
    await worker.kill()
    worker = await flow.next()
    await flow.at_gate("two", worker)
    assert (await flow.steer(thread, "c"))[1]
    flow.notes.open_gate("two")
    await flow.reached(run_id, "done")
    assert await answered(flow, thread) == {"a": 1, "b": 1, "c": 1}
    state = (await flow.request("GET", f"/api/runs/{run_id}/state")).json()
    assert state["output"]["text"] == "<a><b><c>"


async def test_an_interrupt_stops_the_run_and_answers_both(any_flow: Flow) -> None:
    flow = any_flow
    await flow.first(fault="after.tool.finished:1:hang")
    thread, run_id = await started(flow)
    await flow.struck("after.tool.finished")
    body = {"content": "m1", "while_running": "interrupt"}
    posted = await flow.request("POST", f"/api/threads/{thread}/messages", json=body | {"agent": "steerable"})
    assert (posted.status_code, posted.json()["steered"]) == (201, False)
    after = flow.accepted(posted)
    assert after != run_id
    refused = await flow.request("POST", f"/api/threads/{thread}/messages", json=body | {"while_running": "reject"})
    assert (refused.status_code, refused.json()["code"]) == (409, "run_active")
    flow.notes.open_gate("after.tool.finished")
    assert await answered(flow, thread) == {"m0": 1, "m1": 1}
    assert (await flow.run(run_id))["status"] == "canceled"
    assert (await flow.run(after))["status"] == "done"
