"""A node that fails, times out or is canceled ends its run; the error has the node's name and no content."""

import asyncio
import time
from contextlib import suppress
from typing import Any

import pytest

from runyard.agents.declared.agent import Agent
from runyard.agents.execution import Canceled
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.agents.kinds.plan.runner import run_plan
from runyard.domain.events import RunFinished
from runyard.domain.runs.run import Status
from runyard.domain.state.fold import fold
from runyard.errors import AgentError, NodeFailed, NodeTimedOut, Unavailable, WriteRefused
from tests.agents.fake_execution import FakeExecution, P
from tests.agents.plan.plan_agents import SECRET, event_lines, one, plan_of, three
from tests.faces.samples.sample_events import event

# --- failures ----------------------------------------------------------------------------------------------------


async def raises(ctx: NodeContext) -> None:
    raise ValueError(SECRET)


async def leaves(ctx: NodeContext) -> None:
    raise SystemExit(SECRET)


async def cancels_itself(ctx: NodeContext) -> None:
    raise asyncio.CancelledError(SECRET)


async def times_out_inside(ctx: NodeContext) -> None:
    raise TimeoutError(SECRET)


async def no_json(ctx: NodeContext) -> object:
    return object()


@pytest.mark.req("S4.47", "S4.46")
@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (raises, "The node raises failed with ValueError."),
        (leaves, "The node leaves called exit."),
        (cancels_itself, "The node cancels_itself cancelled itself."),
        (times_out_inside, "The node times_out_inside failed with TimeoutError."),
        (no_json, "The node no_json returned a value that is not JSON; return numbers, text, lists or dicts."),
    ],
)
async def test_the_error_of_a_failed_node_has_its_name_and_no_content(fn: Any, says: str) -> None:
    execution = FakeExecution()
    with pytest.raises(NodeFailed) as caught:
        await run_plan(plan_of(one, fn, three), execution)

    assert (caught.value.code, caught.value.message) == ("node_error", says)
    assert isinstance(caught.value, AgentError)
    assert execution.types() == ["step.started", "trace", "step.finished", "step.started"], "it began and has no end"


@pytest.mark.req("S4.48")
async def test_a_failed_node_is_not_retried() -> None:
    calls: list[str] = []

    async def flaky(ctx: NodeContext) -> None:
        calls.append(ctx.node)
        raise OSError

    with pytest.raises(NodeFailed):
        await run_plan(plan_of(flaky), FakeExecution())
    assert calls == ["flaky"]


@pytest.mark.req("S4.46", "S4.47")
async def test_a_node_that_takes_too_long_is_stopped_and_ends_the_run() -> None:
    stopped: list[str] = []

    async def slow(ctx: NodeContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(ctx.node)

    execution = FakeExecution()
    with pytest.raises(NodeTimedOut) as caught:
        await run_plan(plan_of(slow, three, timeout=0.01), execution)
    assert (caught.value.code, caught.value.message) == ("node_timeout", "The node slow took longer than 0.01 s.")
    assert stopped == ["slow"]
    assert execution.types() == ["step.started"]


async def test_a_node_that_does_not_stop_is_abandoned_and_cannot_write_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runyard.agents.durable.parking._CANCEL_SECONDS", 0.01)
    end, left = asyncio.Event(), asyncio.Event()

    async def deaf(ctx: NodeContext) -> None:
        while not end.is_set():
            with suppress(asyncio.CancelledError):
                await end.wait()
        try:
            await ctx.trace("late.mark")
        finally:
            left.set()

    execution = FakeExecution()
    began = time.monotonic()
    with pytest.raises(NodeTimedOut):
        await run_plan(plan_of(deaf, timeout=0.01), execution)
    assert time.monotonic() - began < 5
    end.set()
    await asyncio.wait_for(left.wait(), 5)
    assert execution.types() == ["step.started"]


@pytest.mark.parametrize("refusal", [WriteRefused(), Unavailable()])
async def test_a_write_that_was_refused_is_not_the_fault_of_the_node(refusal: Exception) -> None:
    class Refusing(FakeExecution):
        def emit(self, payload: P) -> P:
            if payload.type == "trace":
                raise refusal
            return super().emit(payload)

    with pytest.raises(type(refusal)) as caught:
        await run_plan(plan_of(one), Refusing())
    assert caught.value is refusal


# --- cancel ------------------------------------------------------------------------------------------------------


async def stopping(agent: Agent, execution: FakeExecution, inside: asyncio.Event) -> None:
    """Cancel a run while `inside` runs, as the engine does: set the flag, then cancel the task."""
    task = asyncio.create_task(run_plan(agent, execution))
    await asyncio.wait_for(inside.wait(), 5)
    execution.cancelled = True
    task.cancel()
    await task


@pytest.mark.req("S4.47")
async def test_a_cancel_between_nodes_begins_no_other_node() -> None:
    execution = FakeExecution()

    async def last(ctx: NodeContext) -> None:
        execution.cancelled = True  # as if the cancel came while the node was running

    with pytest.raises(Canceled):
        await run_plan(plan_of(one, last, three), execution)
    assert event_lines(execution)[3:] == ["step.started last"], "nothing is written once the cancel was seen"


@pytest.mark.req("S4.47")
async def test_a_cancel_inside_a_node_stops_it() -> None:
    execution, inside, stopped = FakeExecution(), asyncio.Event(), asyncio.Event()

    async def work(ctx: NodeContext) -> None:
        inside.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    with pytest.raises((asyncio.CancelledError, Canceled)):
        await stopping(plan_of(work, three), execution, inside)
    assert stopped.is_set()
    assert execution.types() == ["step.started"]


async def test_a_cancel_is_noticed_by_a_node_that_leaves_marks() -> None:
    execution = FakeExecution()

    async def busy(ctx: NodeContext) -> None:
        while True:
            await ctx.trace("busy.loop")
            execution.cancelled = ctx.cancelled() or len(execution.new_events) > 3

    with pytest.raises(Canceled):
        await run_plan(plan_of(busy), execution)
    assert execution.types() == ["step.started", "trace", "trace", "trace"]


async def test_a_cancel_counts_even_if_the_node_fails_because_of_it() -> None:
    execution = FakeExecution()

    async def breaks(ctx: NodeContext) -> None:
        execution.cancelled = True
        raise OSError

    with pytest.raises(Canceled):
        await run_plan(plan_of(breaks), execution)


async def test_a_cancel_before_the_first_node_does_nothing_at_all() -> None:
    execution = FakeExecution()
    execution.cancelled = True
    with pytest.raises(Canceled):
        await run_plan(plan_of(one), execution)
    assert execution.types() == []


def test_the_fold_of_a_plan_that_is_done_needs_no_output() -> None:
    """`run.finished` alone ends a plan's log."""
    state = fold([event(RunFinished("done", "end_turn"))])
    assert (state.status, state.output, state.error) == (Status.DONE, None, None)
