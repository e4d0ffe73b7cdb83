"""A plan: its nodes one after another, each within its time, and none that has finished twice."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from runyard.agents.agent import Agent, OnUnknown, plan
from runyard.agents.execution import Canceled, Parked
from runyard.agents.node_context import NodeContext
from runyard.agents.nodes import Node
from runyard.agents.runners import RUNNERS
from runyard.agents.runners.plan import run_plan
from runyard.agents.tools import Effects
from runyard.domain.events import Event, RunFinished
from runyard.domain.fold import fold
from runyard.domain.run import Status
from runyard.errors import AgentError, NodeFailed, NodeTimedOut, Unavailable, UnknownOutcome, WriteRefused
from tests.faces.every_event import event
from tests.unit.agent.fake_execution import FakeExecution, P, decided

SECRET = "what nobody may read"


def of(*fns: Callable[[NodeContext], Awaitable[Any]], **options: Any) -> Agent:
    """A plan of these functions, each a node of its name."""
    return plan("p", [Node(fn.__name__, fn, **options) for fn in fns])


async def one(ctx: NodeContext) -> dict[str, Any]:
    await ctx.trace("one.check")
    return {"found": 1}


async def two(ctx: NodeContext) -> list[Any]:
    return ["two", ctx.results["one"]["found"]]


async def three(ctx: NodeContext) -> None:
    await ctx.trace("three.first")
    await ctx.trace("three.second")


def shown(execution: FakeExecution) -> list[str]:
    return [f"{event.type} {event.name or event.fn}" for event in execution.new_events]


def steps(execution: FakeExecution) -> dict[str, Any]:
    return {step.name: step.result for step in execution.fold().steps if step.finished}


# --- in order --------------------------------------------------------------------------------------------------------


@pytest.mark.req("S4.47", "S4.46")
async def test_nodes_are_done_in_order_and_only_the_runner_tells_their_start_and_end() -> None:
    execution = FakeExecution()
    await run_plan(of(one, two, three), execution)

    assert shown(execution) == [
        "step.started one",
        "trace one.check",
        "step.finished one",
        "step.started two",
        "step.finished two",
        "step.started three",
        "trace three.first",
        "trace three.second",
        "step.finished three",
    ]


@pytest.mark.req("S4.47")
async def test_a_node_sees_what_the_nodes_before_it_returned_and_nothing_later() -> None:
    seen: list[dict[str, Any]] = []

    async def first(ctx: NodeContext) -> Any:
        seen.append(dict(ctx.results))
        return {"a": (1, 2)}

    async def second(ctx: NodeContext) -> Any:
        seen.append(dict(ctx.results))

    async def third(ctx: NodeContext) -> Any:
        seen.append(dict(ctx.results))
        with pytest.raises(TypeError):
            ctx.results["first"] = "changed"  # type: ignore[index]

    await run_plan(of(first, second, third), FakeExecution())
    assert seen == [{}, {"first": {"a": [1, 2]}}, {"first": {"a": [1, 2]}, "second": None}]


async def test_a_node_knows_its_run_its_name_and_a_key_of_its_own() -> None:
    keys: list[str] = []

    async def ask(ctx: NodeContext) -> None:
        keys.extend([ctx.key(), ctx.key("mail"), ctx.run_id, ctx.node])
        assert (ctx.attempt, ctx.cancelled()) == (1, False)
        assert ctx.message is not None
        assert ctx.message.text == "hello"

    await run_plan(of(ask), FakeExecution())
    assert keys == ["run-1:ask", "run-1:ask:mail", "run-1", "ask"]


async def test_a_result_is_durable_before_the_next_node_begins() -> None:
    durable: list[list[str]] = []
    execution = FakeExecution()

    async def look(ctx: NodeContext) -> None:
        durable.append([event.type for event in execution.log])

    async def again(ctx: NodeContext) -> None:
        await look(ctx)

    await run_plan(of(look, again), execution)
    assert durable[1] == ["run.queued", "step.started", "step.finished"]


async def test_a_plan_has_no_output() -> None:
    assert await RUNNERS["plan"](of(one), FakeExecution()) is None


async def test_a_mark_waits_when_the_journal_is_full() -> None:
    execution = FakeExecution()
    execution.congested = True
    await run_plan(of(one), execution)
    assert execution.drains == 1


@pytest.mark.parametrize("mark", ["", "a b", "ä", "x" * 129, '{"user": 1}', "a\n"])
async def test_a_mark_is_a_name_and_never_content(mark: str) -> None:
    async def tell(ctx: NodeContext) -> None:
        await ctx.trace(mark)

    execution = FakeExecution()
    with pytest.raises(NodeFailed) as caught:
        await run_plan(of(tell), execution)
    assert caught.value.message == "The node tell failed with Invalid."
    assert execution.types() == ["step.started"]


# --- two at once -----------------------------------------------------------------------------------------------------


@pytest.mark.req("S4.47", "S4.34")
async def test_two_runs_of_one_plan_know_nothing_of_each_other() -> None:
    executions = [FakeExecution(text=text) for text in ("a", "b")]
    both = asyncio.Barrier(2)

    async def say(ctx: NodeContext) -> str:
        await both.wait()
        assert ctx.message is not None
        return ctx.message.text

    async def repeat(ctx: NodeContext) -> str:
        await both.wait()
        return str(ctx.results["say"]) * 2

    agent = of(say, repeat)
    await asyncio.gather(*[run_plan(agent, execution) for execution in executions])
    assert [steps(execution) for execution in executions] == [
        {"say": "a", "repeat": "aa"},
        {"say": "b", "repeat": "bb"},
    ]
    for execution in executions:
        assert [event.seq for event in execution.events] == [1, 2, 3, 4, 5]


# --- after a crash ---------------------------------------------------------------------------------------------------


class Counting:
    """The plan of `one`, `two`, `three`, and how often each was called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

        def counted(fn: Callable[[NodeContext], Awaitable[Any]]) -> Node:
            async def call(ctx: NodeContext) -> Any:
                self.calls.append(ctx.node)
                return await fn(ctx)

            return Node(fn.__name__, call)

        self.agent = plan("p", [counted(fn) for fn in (one, two, three)])


async def whole_log() -> list[Event]:
    execution = FakeExecution()
    await run_plan(of(one, two, three), execution)
    return execution.events


@pytest.mark.req("S4.46")
@pytest.mark.parametrize("cut", range(1, 11))
async def test_a_crash_at_any_event_repeats_no_finished_node(cut: int) -> None:
    log = (await whole_log())[:cut]
    finished = [event.name for event in log if event.type == "step.finished"]
    counting, resumed = Counting(), FakeExecution(log)
    await run_plan(counting.agent, resumed)

    assert counting.calls == [name for name in ("one", "two", "three") if name not in finished]
    assert steps(resumed) == {"one": {"found": 1}, "two": ["two", 1], "three": None}
    types = [event.type for event in resumed.events]
    assert (types.count("step.started"), types.count("step.finished")) == (3, 3), "a start is told once"


async def test_the_nodes_of_a_plan_that_changed_meanwhile_are_known_by_their_names() -> None:
    log = (await whole_log())[:6]  # one and two have finished
    resumed = FakeExecution(log)
    await run_plan(of(two, three), resumed)
    assert [event.name for event in resumed.new_events if event.type == "step.started"] == ["three"]


# --- a node that must not be done twice ------------------------------------------------------------------------------


class Payer:
    def __init__(self, effects: Effects = "once", on_unknown: OnUnknown = "ask") -> None:
        self.paid = 0
        self.durable: list[str] = []
        self.execution: FakeExecution | None = None

        async def pay(ctx: NodeContext) -> str:
            assert self.execution is not None
            self.durable = [event.type for event in self.execution.log]
            self.paid += 1
            return "paid"

        self.agent = plan("p", [Node("pay", pay, effects=effects), Node("one", one)], on_unknown=on_unknown)

    async def run(self, log: list[Event] | None = None) -> FakeExecution:
        self.execution = FakeExecution(log or ())
        await run_plan(self.agent, self.execution)
        return self.execution

    async def parked(self, log: list[Event]) -> tuple[list[Event], str]:
        self.execution = FakeExecution(log)
        with pytest.raises(Parked) as caught:
            await run_plan(self.agent, self.execution)
        [approval_id] = caught.value.approvals
        return self.execution.events, approval_id


async def begun() -> list[Event]:
    return (await Payer().run()).log[:2]


async def test_the_start_of_a_once_node_is_durable_before_it_is_called() -> None:
    payer = Payer()
    await payer.run()
    assert payer.durable == ["run.queued", "step.started"]


@pytest.mark.parametrize("effects", ["none", "idempotent"])
async def test_a_node_that_had_begun_is_called_again_unless_it_is_once(effects: Effects) -> None:
    payer = Payer(effects)
    await payer.run(await begun())
    assert payer.paid == 1


async def test_a_once_node_that_had_begun_is_called_again_only_if_a_person_says_so() -> None:
    payer = Payer()
    log, approval_id = await payer.parked(await begun())
    assert payer.paid == 0
    assert payer.execution is not None
    [approval] = payer.execution.approvals
    assert (approval.id, approval.kind, approval.tool) == (approval_id, "unknown_outcome", "pay")

    waiting, same = await payer.parked(log)
    assert (same, payer.paid) == (approval_id, 0), "nobody is asked twice"

    allowed = await payer.run(decided(waiting, approval_id))
    assert payer.paid == 1
    assert steps(allowed) == {"pay": "paid", "one": {"found": 1}}


async def test_a_repetition_that_was_allowed_and_died_is_asked_about_again() -> None:
    payer = Payer()
    log, approval_id = await payer.parked(await begun())
    allowed = await payer.run(decided(log, approval_id))
    again = next(event.seq for event in allowed.new_events if event.type == "step.started")
    _, other = await payer.parked(allowed.events[:again])
    assert other != approval_id


@pytest.mark.parametrize("decision", ["rejected", "expired"])
async def test_a_once_node_that_nobody_allows_ends_the_run(decision: Any) -> None:
    payer = Payer()
    log, approval_id = await payer.parked(await begun())
    with pytest.raises(UnknownOutcome):
        await payer.run(decided(log, approval_id, decision))
    assert payer.paid == 0


async def test_a_plan_that_asks_nobody_ends_with_an_unknown_outcome() -> None:
    payer = Payer(on_unknown="fail")
    with pytest.raises(UnknownOutcome):
        await payer.run(await begun())
    assert payer.paid == 0


# --- failures --------------------------------------------------------------------------------------------------------


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
        (no_json, "The node no_json returned something that is not JSON."),
    ],
)
async def test_a_node_that_fails_ends_the_run_by_its_name_and_never_by_its_content(fn: Any, says: str) -> None:
    execution = FakeExecution()
    with pytest.raises(NodeFailed) as caught:
        await run_plan(of(one, fn, three), execution)

    assert (caught.value.code, caught.value.message) == ("node_error", says)
    assert isinstance(caught.value, AgentError)
    assert execution.types() == ["step.started", "trace", "step.finished", "step.started"], "it began and has no end"


@pytest.mark.req("S4.48")
async def test_nothing_is_tried_twice() -> None:
    calls: list[str] = []

    async def flaky(ctx: NodeContext) -> None:
        calls.append(ctx.node)
        raise OSError

    with pytest.raises(NodeFailed):
        await run_plan(of(flaky), FakeExecution())
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
        await run_plan(of(slow, three, timeout=0.01), execution)
    assert (caught.value.code, caught.value.message) == ("node_timeout", "The node slow took longer than 0.01 s.")
    assert stopped == ["slow"]
    assert execution.types() == ["step.started"]


async def test_a_node_that_does_not_stop_is_left_behind_and_can_write_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runyard.agents.parking._TELL_SECONDS", 0.01)
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
        await run_plan(of(deaf, timeout=0.01), execution)
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
        await run_plan(of(one), Refusing())
    assert caught.value is refusal


# --- cancel ----------------------------------------------------------------------------------------------------------


async def stopping(agent: Agent, execution: FakeExecution, inside: asyncio.Event) -> None:
    """What the engine does to a run that is canceled while `inside`: the flag, then the task."""
    task = asyncio.create_task(run_plan(agent, execution))
    await asyncio.wait_for(inside.wait(), 5)
    execution.cancelled = True
    task.cancel()
    await task


@pytest.mark.req("S4.47")
async def test_a_cancel_between_nodes_begins_no_other_node() -> None:
    execution = FakeExecution()

    async def last(ctx: NodeContext) -> None:
        execution.cancelled = True  # as if the request came while it was at work

    with pytest.raises(Canceled):
        await run_plan(of(one, last, three), execution)
    assert shown(execution)[3:] == ["step.started last"], "nothing is written once the cancel was seen"


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
        await stopping(of(work, three), execution, inside)
    assert stopped.is_set()
    assert execution.types() == ["step.started"]


async def test_a_cancel_is_noticed_by_a_node_that_leaves_marks() -> None:
    execution = FakeExecution()

    async def busy(ctx: NodeContext) -> None:
        while True:
            await ctx.trace("busy.loop")
            execution.cancelled = ctx.cancelled() or len(execution.new_events) > 3

    with pytest.raises(Canceled):
        await run_plan(of(busy), execution)
    assert execution.types() == ["step.started", "trace", "trace", "trace"]


async def test_a_cancel_counts_even_if_the_node_fails_because_of_it() -> None:
    execution = FakeExecution()

    async def breaks(ctx: NodeContext) -> None:
        execution.cancelled = True
        raise OSError

    with pytest.raises(Canceled):
        await run_plan(of(breaks), execution)


async def test_a_cancel_before_the_first_node_does_nothing_at_all() -> None:
    execution = FakeExecution()
    execution.cancelled = True
    with pytest.raises(Canceled):
        await run_plan(of(one), execution)
    assert execution.types() == []


def test_the_fold_of_a_plan_that_is_done_needs_no_output() -> None:
    """`run.finished` alone is the end of a plan's log."""
    state = fold([event(RunFinished("done", "end_turn"))])
    assert (state.status, state.output, state.error) == (Status.DONE, None, None)
