"""Runs agents of other frameworks to their end, through waits and crashes, on a `FakeExecution`."""

from collections.abc import Callable, Sequence

from runyard.agents.declared.agent import Agent, Output
from runyard.agents.execution import Parked
from runyard.agents.kinds.runners import RUNNERS
from runyard.domain.events import Event, ToolFinished, ToolStarted
from tests.agents.fake_execution import FakeExecution, log_with_decision

ONE_APPEND = {"step.finished", "tool.requested"}  # they are appended together with the event before them


async def to_its_end(
    agent: Agent, log: Sequence[Event] = (), text: str = "hello"
) -> tuple[Output, list[Event], list[str]]:
    """Run from this log to the end. Approve tools, and reject repetitions of calls with an unknown outcome.

    Return the output, the log and the kinds of approvals that were requested."""
    asked: list[str] = []
    execution = FakeExecution(log, text=text)
    while True:
        decided = list(execution.log)
        for wait_id, wait in execution.state.waits.items():
            if wait.answered_seq is None:
                decided = log_with_decision(decided, wait_id, "approved" if wait.kind == "tool" else "rejected")
        if len(decided) > len(execution.log):
            execution = FakeExecution(decided, text=text)
        try:
            output = await RUNNERS[agent.kind](agent, execution)
        except Parked:
            await execution.commit()
            asked += [wait.kind for wait in execution.approvals]
            execution = FakeExecution(execution.log, text=text)
            continue
        await execution.commit()
        assert output is not None
        return output, execution.log, asked


async def crashed_at_every_event(make: Callable[[], tuple[Agent, list[str]]], once: str, text: str = "hello") -> None:
    """Check that the run ends in the same way after a crash at any event, and that the tool `once` is called once.

    `make` returns the agent and the list in which its tools note their calls."""
    agent = make()[0]
    expected, log, asked = await to_its_end(agent, text=text)
    together = ONE_APPEND | ({"approval.requested"} if agent.kind == "python" else set())
    assert asked == ["tool"]
    types = [event.type for event in log]
    for cut in range(1, len(log)):
        if log[cut].type in together:
            continue
        prefix = log[:cut]
        begun = any(isinstance(e.payload, ToolStarted) and e.payload.tool == once for e in prefix)
        ended = any(isinstance(e.payload, ToolFinished) and e.payload.tool == once for e in prefix)
        agent, calls = make()
        output, after, kinds = await to_its_end(agent, prefix, text)
        assert calls.count(once) == (0 if begun else 1), f"cut at {cut} {types[cut - 1]}"
        assert ("unknown_outcome" in kinds) == (begun and not ended), f"cut at {cut}"
        if not begun or ended:
            assert output == expected, f"cut at {cut}"
        for kind in ("model.message", "tool.requested"):
            assert [e.type for e in after].count(kind) == types.count(kind), f"cut at {cut}"
