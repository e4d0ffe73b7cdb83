"""A fork in the middle of a graph's run: a retry of the copy continues from its checkpoint, and a message starts from
the state of that checkpoint. Neither repeats a call that the copy has."""

from collections import Counter
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

import runyard
from runyard.agents.declared.agent import Output
from runyard.agents.execution import ForkedCopy, Parked
from runyard.agents.kinds.langgraph.checkpointer import is_record
from runyard.agents.kinds.langgraph.runner import run_langgraph
from runyard.domain.conversations.thread import Message
from runyard.domain.events import Event, StepStarted
from runyard.domain.state.fold import fold
from tests.agents.fake_execution import FakeExecution, log_with_answer, log_with_decision
from tests.support.apps.graph_agents import ANSWERS, trip

HAPPENED: Counter[str] = Counter()
AGENT = runyard.langgraph("trip", trip(lambda what, *_: HAPPENED.update([what])))
LAST = "Checked: True, soon."
OTHER_ROW = 9


async def play(
    copy: ForkedCopy | None = None, log: list[Event] | None = None, row: int = 7
) -> tuple[list[Event], Output]:
    """Run to the end, as a worker would. Every question is answered, and no call is repeated."""
    events = list(log or ())
    while True:
        execution = FakeExecution(events)
        execution.copy = copy
        try:
            output = await run_langgraph(AGENT, execution)
        except Parked as signal:
            await execution.commit()
            events = execution.log
            for wait_id in signal.waits:
                wait = fold(events).waits[wait_id]
                if wait.kind == "unknown_outcome":
                    events = log_with_decision(events, wait_id, "rejected")
                else:
                    given = {**ANSWERS, "Which row?": row}[wait.prompt or ""]
                    events = log_with_answer(events, wait_id, given)
            continue
        await execution.commit()
        return execution.log, output


async def test_a_retry_of_the_copy_continues_from_every_checkpoint() -> None:
    whole, _ = await play()
    for cut in range(2, len(whole), 3):
        state = fold(whole[:cut])
        has_records = any(map(is_record, state.steps))
        calls = {call.call_id: call.status for call in state.calls}
        HAPPENED.clear()
        _, output = await play(ForkedCopy(state, is_continued=True), row=OTHER_ROW)
        where = f"forked after event {cut}, {whole[cut - 1].type}"
        assert output.text.endswith(LAST), where
        assert HAPPENED["pay"] == (0 if has_records and calls else 1), where
        finished = {step.name for step in state.steps if step.finished and step.name != "agent"}
        assert not any(HAPPENED[name] for name in finished & {"tools", "row", "city", "tell", "check"}), where
        if "row" in finished:
            assert output.outputs["row"] == 7, where
        elif not any(wait.prompt == "Which row?" and wait.answered_seq for wait in state.waits.values()):
            assert output.outputs["row"] == OTHER_ROW, where
        assert "Let me" not in output.text or not any(step.name == "agent" and step.finished for step in state.steps), (
            where
        )


async def test_after_a_crash_the_copy_is_taken_over_once() -> None:
    whole, _ = await play()
    cut = next(event.seq for event in whole if event.type == "tool.finished")
    copy = ForkedCopy(fold(whole[:cut]), is_continued=True)
    HAPPENED.clear()
    log, output = await play(copy)
    records = sum(map(is_record, copy.state.steps))
    for at in range(1, len(log), 6):
        again, same = await play(copy, log[:at])
        assert same.text == output.text, f"after event {at}"
        keys = [step.key for step in fold(again).steps if is_record(step)]
        assert len(keys) == len(set(keys)) > records
    assert HAPPENED["pay"] == 0


class Visits(MessagesState):
    visits: int
    place: str


async def test_a_message_starts_from_the_state_of_the_copy() -> None:
    seen: list[tuple[int, str, list[str]]] = []

    def count(state: Visits) -> dict[str, Any]:
        seen.append((state.get("visits", 0), state.get("place", ""), [each.text for each in state["messages"]]))
        return {"visits": state.get("visits", 0) + 1}

    graph = StateGraph(Visits).add_node(count).add_node("choose", lambda _: {"place": "Oslo"})
    graph.add_node("tell", lambda state: {"messages": [AIMessage(f"{state['place']}, visit {state['visits']}.")]})
    graph.add_edge(START, "count").add_edge("count", "choose").add_edge("choose", "tell")
    agent = runyard.langgraph("visits", graph.compile())
    execution = FakeExecution()
    assert (await run_langgraph(agent, execution)).text == "Oslo, visit 1."
    await execution.commit()
    [cut] = [e.seq for e in execution.log if isinstance(e.payload, StepStarted) and e.payload.step == "tell#1"]
    state = fold(execution.log[:cut])
    for is_continued, text, starts in (
        (False, "Oslo, visit 2.", [(1, "Oslo", ["hello", "hello", "Again."])]),
        (True, "Oslo, visit 1.", []),
    ):
        fork = FakeExecution()
        fork.message = Message(id="m2", thread_id="t", role="user", text="Again.", created_at=0)
        fork.copy = ForkedCopy(state, is_continued)
        seen.clear()
        assert (await run_langgraph(agent, fork)).text == text
        assert seen == starts
