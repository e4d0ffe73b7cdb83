"""A graph that dies at any event resumes from its last checkpoint: it repeats no recorded call, asks no question twice
and shows no text twice."""

from collections import Counter

import runyard
from runyard.agents.declared.agent import Output
from runyard.agents.execution import Parked
from runyard.agents.kinds.langgraph.runner import run_langgraph
from runyard.domain.events import Event, StepFinished, StepStarted, Usage
from runyard.domain.state.fold import fold
from tests.agents.fake_execution import FakeExecution, log_with_answer, log_with_decision, run_until_parked
from tests.support.apps.graph_agents import ANSWERS, TRIP, trip

STEPS = ["agent#1", "tools#1", "agent#2", "row#1", "city#1", "tell#1", "check#1", "check/think#1", "check/ask#1"]


HAPPENED: Counter[str] = Counter()
AGENT = runyard.langgraph("trip", trip(lambda what, *_: HAPPENED.update([what])))


class Scene:
    """An agent, and a count of what its nodes and tools really did since the scene began."""

    def __init__(self) -> None:
        self.agent = AGENT
        self.happened = HAPPENED
        HAPPENED.clear()


async def play(log: list[Event] | None = None) -> tuple[Scene, list[Event], Output]:
    """Run to the end, from a log. Every question is answered, one execution after another."""
    scene, events = Scene(), list(log or ())
    while True:
        execution = FakeExecution(events)
        try:
            output = await run_langgraph(scene.agent, execution)
        except Parked as signal:
            await execution.commit()
            events = with_answers(execution.log, signal.waits)
            continue
        await execution.commit()
        return scene, execution.log, output


def with_answers(log: list[Event], waits: list[str]) -> list[Event]:
    for wait_id in waits:
        wait = fold(log).waits[wait_id]
        assert wait.answered_seq is None
        if wait.kind == "unknown_outcome":
            log = log_with_decision(log, wait_id)
        else:
            log = log_with_answer(log, wait_id, ANSWERS[wait.prompt or ""])
    return log


async def test_without_a_crash() -> None:
    scene, log, output = await play()
    assert output.text == TRIP
    assert scene.happened == {"agent": 2, "pay": 1, "row": 2, "city": 2, "tell": 1, "think": 1, "ask": 3}
    check(log)


async def test_after_a_crash_at_any_event_the_graph_continues_from_its_last_checkpoint() -> None:
    """The worker dies when it has committed this event and no later one."""
    _, whole, _ = await play()
    for cut in range(1, len(whole)):
        scene, log, output = await play(whole[:cut])
        before = Counter(event.type for event in whole[:cut])
        where = f"after event {cut}, {whole[cut - 1].type}"
        assert output.text == TRIP, where
        assert scene.happened["pay"] == (not before["tool.finished"]), where
        finished = {step.name for step in fold(whole[:cut]).steps if step.finished}
        assert not any(scene.happened[name] for name in ("tell", "row", "city") if name in finished), where
        check(log)


def check(log: list[Event]) -> None:
    """Every node has one step, every question was asked once, and the text that a reader sees is the answer."""
    state = fold(log)
    started = [event.payload.step for event in log if isinstance(event.payload, StepStarted)]
    finished = Counter(event.payload.step for event in log if isinstance(event.payload, StepFinished))
    assert sorted(started) == sorted(STEPS)
    assert set(finished.values()) == {1}
    assert finished.keys() >= set(STEPS)
    asked = [wait for wait in state.waits.values() if wait.kind == "question"]
    assert sorted(wait.prompt or "" for wait in asked) == sorted(ANSWERS)
    assert len({wait.call_id for wait in asked}) == len(asked)
    assert state.text == TRIP
    assert state.usage == Usage(30, 5)


async def test_the_first_of_two_answers_continues_its_node_alone() -> None:
    scene = Scene()
    execution = FakeExecution()
    waits = await run_until_parked(scene.agent, execution)
    assert len(waits) == 2
    again = FakeExecution(with_answers(execution.log, waits[:1]))
    assert await run_until_parked(scene.agent, again) == waits[1:], "the other question is still open"
    finished = [event.payload.name for event in again.new_events if isinstance(event.payload, StepFinished)]
    assert len({"row", "city"} & set(finished)) == 1


async def test_a_run_that_wakes_without_an_answer_asks_nothing_and_runs_no_node() -> None:
    scene, execution = Scene(), FakeExecution()
    waits = await run_until_parked(scene.agent, execution)
    scene.happened.clear()
    again = FakeExecution(execution.log)
    assert sorted(await run_until_parked(scene.agent, again)) == sorted(waits)
    assert not scene.happened
    assert again.types() == []
