"""A model agent resumes after a crash at any event and repeats nothing silently."""

import pytest

from runyard.agents.tools.tool import tool
from runyard.domain.events import Event, ToolFinished, ToolStarted
from runyard.domain.runs.run import Status
from tests.agents.fake_execution import FakeExecution, log_with_decision, run_until_parked
from tests.agents.model.model_agents import DONE, model_agent, results, run_with_requests, turn_with_calls


class Counted:
    """An agent whose turns use everything, and a count of its tool calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

        @tool(effects="none")
        async def read(what: str) -> str:
            self.calls.append("read")
            return what

        @tool(effects="once")
        async def send(what: str, idempotency_key: str) -> str:
            self.calls.append(idempotency_key)
            return what

        self.agent = model_agent(
            turn_with_calls(("read", {"what": "r"}), ("send", {"what": "s"}), text=["Let me ", "see."], thinking="hm"),
            turn_with_calls(("fly", {})),
            DONE,
            tools=[read, send],
        )


@pytest.mark.req("S0.36")
async def test_at_any_event_a_crash_repeats_nothing_silently_and_the_answer_is_the_same() -> None:
    whole = FakeExecution()
    expected, last_seen = await run_with_requests(Counted().agent, whole)
    log = whole.log

    for cut in range(1, len(log) + 1):
        prefix = _consistent(log, cut)
        if prefix is None:
            continue
        counted, execution = Counted(), FakeExecution(prefix)
        sent_before = any(isinstance(e.payload, ToolStarted) and e.payload.tool == "send" for e in prefix)
        done_before = any(isinstance(e.payload, ToolFinished) and e.payload.tool == "send" for e in prefix)
        if sent_before and not done_before:
            [approval_id] = await run_until_parked(counted.agent, execution)
            assert execution.approvals[0].kind == "unknown_outcome"
            assert [key for key in counted.calls if key != "read"] == []
            execution = FakeExecution(log_with_decision(execution.log, approval_id, "rejected"))
            output, requests = await run_with_requests(counted.agent, execution)
            assert "Whether it took effect is not known" in results(requests[0])[1]
        else:
            output, requests = await run_with_requests(counted.agent, execution)
            if requests:
                assert requests[-1].messages == last_seen[-1].messages, f"cut at {cut}"
        assert output == expected, f"cut at {cut}"
        assert execution.fold().text == expected.text
        assert counted.calls.count("run-1:call_1_2") == (0 if sent_before else 1)
        if done_before:
            assert "run-1:call_1_2" not in counted.calls
        types = [event.type for event in execution.log]
        assert types.count("model.message") == 3
        assert execution.fold().status is not Status.ERROR


def _consistent(log: list[Event], cut: int) -> list[Event] | None:
    """Return the first `cut` events, unless the cut is inside one append."""
    inside = {"step.finished", "tool.requested"}
    return None if cut < len(log) and log[cut].type in inside else log[:cut]
