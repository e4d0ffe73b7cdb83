"""A model agent takes a message at the next boundary, wherever it comes; a python agent reads it when it asks."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.domain.conversations.thread import Message
from runyard.domain.events import Event, MessageReceived, MessageTaken, ModelReset, Payload
from runyard.domain.state.conversation import call_ids, messages
from runyard.domain.state.fold import fold
from tests.agents.fake_execution import FakeExecution, answer
from tests.agents.model.model_agents import model_agent, run_with_requests, turn_with_calls

P = TypeVar("P", bound=Payload)
LOOK = turn_with_calls(("look", {"where": "a"}), ("look", {"where": "b"}), text="Looking.")
NEWS = Message(id="m2", thread_id="t", role="user", text="also this", created_at=1)


class Steered(FakeExecution):
    """An execution whose message comes directly after the event number `at`."""

    def __init__(self, log: Sequence[Event] = (), *, at: int | None = None) -> None:
        self.at: int | None = None
        super().__init__(log)
        self.at = at
        received = {e.payload.message_id for e in log if isinstance(e.payload, MessageReceived)}
        taken = {e.payload.message_id for e in log if isinstance(e.payload, MessageTaken)}
        self.new = [NEWS] if received - taken else []
        self._receive_if_due()

    def emit(self, payload: P) -> P:
        stored = super().emit(payload)
        self._receive_if_due()
        return stored

    def token(self, text: str) -> None:
        super().token(text)
        self._receive_if_due()

    def _receive_if_due(self) -> None:
        if self.at is not None and len(self.events) >= self.at:
            self.at = None
            self.new.append(NEWS)
            super().emit(MessageReceived(NEWS.id, NEWS.text))


def thinker() -> Agent:
    """Look, look, answer; then answer what came after that."""
    return model_agent(LOOK, LOOK, {"text": "Done."}, max_turns=20)


async def event_count() -> int:
    execution = FakeExecution()
    await run_with_requests(thinker(), execution)
    return len(execution.log)


def check_order(conversation: Sequence[Mapping[str, Any]]) -> None:
    """The results of all calls follow their message directly."""
    for place, message in enumerate(conversation):
        wanted = call_ids(dict(message))
        results = [each.get("tool_call_id") for each in conversation[place + 1 : place + 1 + len(wanted)]]
        assert results == wanted


async def test_wherever_it_comes_the_model_gets_it_once_and_after_the_results() -> None:
    for at in range(1, await event_count() + 1):
        execution = Steered(at=at)
        _, requests = await run_with_requests(thinker(), execution)
        last = requests[-1].messages
        assert sum(message.get("content") == NEWS.text for message in last) == 1, f"at {at}"
        check_order(last)
        own = messages(fold(execution.log), "hello")
        assert own[: len(last)] == last, "the log rebuilds what the model got"
        assert not execution.new


async def test_a_crash_at_any_event_neither_loses_nor_doubles_it() -> None:
    for at in range(1, await event_count() + 1, 3):
        whole = Steered(at=at)
        _, expected = await run_with_requests(thinker(), whole)
        taken = next(n for n, event in enumerate(whole.log, 1) if event.type == "message.taken")
        for cut in range(1, len(whole.log) + 1):
            prefix = whole.log[:cut]
            if prefix[-1].type in ("model.message", "step.finished") or not _has(prefix, "message.received"):
                continue  # a turn is one append
            execution = Steered(prefix)
            _, requests = await run_with_requests(thinker(), execution)
            types = [event.type for event in execution.log]
            assert (types.count("message.received"), types.count("message.taken")) == (1, 1), f"{at} cut at {cut}"
            if requests:
                check_order(requests[-1].messages)
                assert sum(message.get("content") == NEWS.text for message in requests[-1].messages) == 1
                if cut >= taken:
                    assert requests[-1].messages == expected[-1].messages, f"{at} cut at {cut}"


def _has(log: Sequence[Event], kind: str) -> bool:
    return any(event.type == kind for event in log)


async def test_an_agent_at_its_limit_leaves_the_message() -> None:
    execution = Steered(at=await event_count() - 1)
    agent = model_agent(LOOK, LOOK, {"text": "Done."}, max_turns=3)
    output, requests = await run_with_requests(agent, execution)
    assert (output.stop_reason, len(requests)) == ("end_turn", 3)
    assert [message.id for message in execution.new] == [NEWS.id]


async def test_the_answer_has_the_text_of_both_turns() -> None:
    execution = Steered(at=await event_count() - 1)
    output, requests = await run_with_requests(model_agent(LOOK, LOOK, {"text": "Done."}, max_turns=20), execution)
    assert len(requests) > 3
    assert output.text.count("Done.") == 2
    assert not any(isinstance(event.payload, ModelReset) for event in execution.log)


@pytest.mark.parametrize("at", [1, None])
async def test_a_python_agent_reads_what_came_and_replays_it(at: int | None) -> None:
    seen: list[list[str]] = []

    async def reader(ctx: Context) -> str:
        seen.append([message.text for message in await ctx.new_messages()])
        seen.append([message.text for message in await ctx.new_messages()])
        return "read"

    execution = Steered(at=at)
    await answer(reader, execution)
    await execution.commit()
    expected = [[NEWS.text] if at else [], []]
    assert seen == expected
    again = Steered(execution.log)
    await answer(reader, again)
    assert seen == expected * 2
    assert [event.type for event in again.log].count("message.taken") == (1 if at else 0)
