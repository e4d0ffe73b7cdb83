"""A conversation that outgrows the model's window is folded into a summary; the log keeps everything."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from runyard.agents.kinds.model.tokens import estimate_tokens
from runyard.app.process import Process
from runyard.buses.memory import MemoryBus
from runyard.domain.api_key import LOCAL
from runyard.domain.events import Event, RunFinished, RunOutput, StepFinished
from runyard.domain.redaction.redactor import Redactor
from runyard.domain.state.conversation import messages
from runyard.domain.state.summary import SUMMARIZE
from runyard.engine.intake.user_message import UserMessage
from runyard.engine.log.stream import Pause
from runyard.errors import ContextTooLong, Invalid, ModelUnavailable
from runyard.testing import MemoryStore
from runyard.testing.running import _settings
from tests.agents.fake_execution import FakeExecution
from tests.agents.model.model_agents import (
    look,
    model_agent,
    payloads,
    run_to_output,
    run_with_requests,
    turn_with_calls,
)

FACT = "The price is 4711 EUR."
WINDOW = 1_000  # tokens
Conversation = Sequence[Mapping[str, Any]]


class Listener:
    """A scripted model that remembers the price if it reads it, and writes down the size of each request."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.summaries = 0

    def __call__(self, conversation: Conversation) -> Mapping[str, Any]:
        self.sizes.append(estimate_tokens(conversation))
        knows = any(FACT in str(message["content"]) for message in conversation)
        if is_summary(conversation):
            self.summaries += 1
            return {"text": FACT if knows else "Nöthing. 書", "usage": {"output_tokens": 7, "usd": 0.001}}
        if conversation[-1]["content"] == "What is the price?":
            return {"text": FACT if knows else "I do not know."}
        return {"text": f"Noted. {'z' * 60}"}


def is_summary(conversation: Conversation) -> bool:
    return "memory of a conversation" in str(conversation[0]["content"])


class Reads(MemoryStore):
    """A store that counts the logs that are read."""

    count = 0

    async def read(self, *args: Any, **more: Any) -> Any:
        self.count += 1
        return await super().read(*args, **more)


class Thread:
    """A thread with one agent, in a real process over a store in memory."""

    def __init__(self, process: Process, thread_id: str) -> None:
        self.process, self.id = process, thread_id
        self.run_ids: list[str] = []

    async def say(self, text: str) -> list[Event]:
        posted = await self.process.engine.intake.post(self.id, UserMessage(LOCAL, "threads", text, "a"))
        self.run_ids.append(posted.run_id)
        return await self.events(posted.run_id)

    async def edit(self, run_id: str, text: str) -> list[Event]:
        posted = await self.process.engine.intake.edit(run_id, UserMessage(LOCAL, "threads", text, "a"))
        return await self.events(posted.run_id)

    async def events(self, run_id: str) -> list[Event]:
        follower = self.process.streams.follow(run_id, 0)
        events: list[Event] = []
        try:
            while (found := await follower.next(3600)) is not Pause.END:
                if not isinstance(found, Pause):
                    events += [event for chunk in found for event in chunk.events]
        finally:
            follower.close()
        return events


@asynccontextmanager
async def thread_of(tmp_path: Path, listener: Listener, store: Reads, **options: Any) -> AsyncIterator[Thread]:
    agent = Agent("a", model="scripted", turns=listener, instructions="Be kind.", **options)
    process = Process(_settings(tmp_path), App({"a": agent}, default="a"), store=store, bus=MemoryBus())
    await process.start()
    try:
        yield Thread(process, (await process.engine.intake.open_thread(LOCAL, None, None)).id)
    finally:
        await process.stop()


def text_of(events: Sequence[Event]) -> str:
    return next(event.payload.text for event in events if isinstance(event.payload, RunOutput))


def summaries_in(events: Sequence[Event]) -> list[StepFinished]:
    return [e.payload for e in events if isinstance(e.payload, StepFinished) and e.payload.name == SUMMARIZE]


async def talk(tmp_path: Path, turns: int, **options: Any) -> tuple[Listener, list[list[Event]], list[int]]:
    """Say the fact, then other things, and ask for the fact at the end. Return the model, the logs, and how many logs
    each message read."""
    listener, store = Listener(), Reads()
    async with thread_of(tmp_path, listener, store, **options) as thread:
        logs, reads = [await thread.say(FACT)], []
        for n in range(turns - 2):
            before = store.count
            logs.append(await thread.say(f"Message {n}: {'ü' * 30}"))
            reads.append(store.count - before)
        logs.append(await thread.say("What is the price?"))
    return listener, logs, reads


async def test_after_500_turns_the_model_knows_what_was_agreed_and_a_message_costs_what_it_did(tmp_path: Path) -> None:
    listener, logs, reads = await talk(tmp_path, 500, max_context_tokens=WINDOW)

    assert text_of(logs[-1]) == FACT
    assert max(listener.sizes) <= WINDOW
    assert listener.summaries <= 500 // 5, "half of the window is free after a summary"
    assert max(reads[-100:]) <= max(reads[100:200]), "the cost of a message does not grow"
    assert max(reads) <= 40
    assert [text_of(log) for log in logs[:-1]] == [text_of(logs[0])] * 499, "the log keeps everything"
    recorded = [step for log in logs for step in summaries_in(log)]
    assert len(recorded) == listener.summaries
    ends = [log[-1].payload for log in logs if summaries_in(log)]
    assert [end.usage for end in ends if isinstance(end, RunFinished)] == [step.usage for step in recorded]
    assert all(step.usage is not None and step.usage.usd == 0.001 for step in recorded), "the run pays for it"


@pytest.mark.parametrize("options", [{"context": "drop"}, {"context": "summarize", "history": 0}], ids=str)
async def test_without_summaries_the_fact_is_lost(tmp_path: Path, options: dict[str, Any]) -> None:
    listener, logs, _ = await talk(tmp_path, 40, max_context_tokens=WINDOW, **options)

    assert text_of(logs[-1]) == "I do not know."
    assert listener.summaries == 0


async def test_runs_beyond_the_history_are_summarized_also_in_a_large_window(tmp_path: Path) -> None:
    listener, logs, _ = await talk(tmp_path, 20, history=4)

    assert text_of(logs[-1]) == FACT
    assert 0 < listener.summaries <= 9


async def test_a_summary_counts_on_its_own_branch_only(tmp_path: Path) -> None:
    listener = Listener()
    async with thread_of(tmp_path, listener, Reads(), history=4) as thread:
        for text in ("One.", "Two.", FACT, "Four.", "Five.", "Six.", "Seven."):
            await thread.say(text)
        assert text_of(await thread.say("What is the price?")) == FACT
        made = listener.summaries
        assert made == 1, "of the first runs, for the sixth; the next ones use it"
        assert text_of(await thread.edit(thread.run_ids[-1], "What is the price?")) == FACT
        assert listener.summaries == made, "another end of the same branch uses it too"
        assert text_of(await thread.edit(thread.run_ids[2], "Three.")) != FACT
        for text in ("Four.", "Five.", "Six."):
            await thread.say(text)
        assert text_of(await thread.say("What is the price?")) == "I do not know.", "the fact is on the other branch"
        assert listener.summaries > made


async def test_a_summary_is_redacted_before_it_is_stored_and_read() -> None:
    def turns(conversation: Conversation) -> Mapping[str, Any]:
        return {"text": "Mail ada@example.org." if is_summary(conversation) else "Done."}

    execution = FakeExecution(earlier=[[{"role": "user", "content": "q"}]] * 3, redactor=Redactor(["email"]))
    _, requests = await run_with_requests(Agent("a", model="scripted", turns=turns, history=1), execution)
    assert "[email]" in requests[-1].messages[0]["content"]
    assert "ada@" not in str([*requests[-1].messages, *(event.data for event in execution.log)])


# --- inside one run ----------------------------------------------------------------------------------------------


def worker(calls: int, **options: Any) -> Agent:
    """An agent whose run outgrows its window by tool calls. It answers with what it knows of the first one."""
    done: list[int] = []

    def turns(conversation: Conversation) -> Mapping[str, Any]:
        text = msgspec.json.encode(list(conversation)).decode()
        if is_summary(conversation):
            return {"text": "seen-0" if "seen-0" in text else "nothing", "usage": {"output_tokens": 5}}
        if f"n{calls - 1}-" in text:
            return {"text": f"{'seen-0' in text} {conversation[-1]['role']}"}
        last = max([int(part.split("-")[0]) for part in text.split('"n')[1:] if part[0].isdigit()] or [-1])
        number = max(last, *done, -1) + 1
        done.append(number)
        return turn_with_calls(("look", {"where": f"n{number}-{'seen-0' if number == 0 else 'x'}-{'w' * 200}"}))

    return Agent("a", model="scripted", turns=turns, tools=[look], max_turns=50, max_context_tokens=900, **options)


async def test_a_run_that_outgrows_its_window_folds_its_own_turns_and_keeps_the_question() -> None:
    execution = FakeExecution(text="Look everywhere.", earlier=[[{"role": "user", "content": "e" * 400}]])
    output, requests = await run_with_requests(worker(12), execution)

    assert output.text == "True tool"
    assert max(estimate_tokens(request.messages) for request in requests) <= 900
    summaries = [request for request in requests if request.purpose == "summary"]
    assert len(summaries) >= 1
    asked = [request for request in requests if request.purpose == "answer"]
    for request in asked:
        assert any(message["content"] == "Look everywhere." for message in request.messages)
        called = [call["id"] for message in request.messages for call in message.get("tool_calls") or ()]
        results = [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]
        assert called == results, "every call has its result"
    assert len(messages(execution.fold(), "Look everywhere.")) == 1 + 2 * 12 + 1, "the log keeps everything"


async def test_after_a_crash_at_any_event_nothing_is_summarized_again() -> None:
    whole = FakeExecution(text="Look everywhere.")
    expected, _ = await run_with_requests(worker(8), whole)
    steps = [step.result for step in payloads(whole, StepFinished) if step.name == SUMMARIZE]
    assert steps
    places = [n for n, event in enumerate(whole.log) if event.type == "step.finished" and event.name == SUMMARIZE]
    for place in places:
        execution = FakeExecution(whole.log[: place + 1], text="Look everywhere.")
        output, requests = await run_with_requests(worker(8), execution)
        assert output.text == expected.text
        assert requests[0].purpose == "answer"
        assert [step.result for step in payloads(execution, StepFinished) if step.name == SUMMARIZE] == steps


@pytest.mark.parametrize("context", ["summarize", "drop"])
async def test_a_question_that_does_not_fit_is_an_error_and_costs_no_summary(context: Any) -> None:
    execution = FakeExecution(text="long " * 500, earlier=[[{"role": "user", "content": "e" * 400}]])
    with pytest.raises(ContextTooLong, match="max_context_tokens"):
        await run_to_output(model_agent({"text": "a"}, max_context_tokens=100, context=context), execution)
    assert "step.started" not in execution.types()


async def test_a_provider_that_finds_the_conversation_too_long_gets_a_shorter_one() -> None:
    sizes: list[int] = []

    def turns(conversation: Conversation) -> Mapping[str, Any]:
        if is_summary(conversation):
            return {"text": "They talked."}
        sizes.append(len(conversation))
        return {"error": "context_too_long"} if len(conversation) > 4 else {"text": "Short enough."}

    earlier = [[{"role": "user", "content": "q" * 400}, {"role": "assistant", "content": "a" * 400}]] * 6
    output = await run_to_output(Agent("a", model="scripted", turns=turns), FakeExecution(earlier=earlier))
    assert output.text == "Short enough."
    assert sizes == [13, 2]

    agent = Agent("a", model="scripted", turns=lambda _: {"error": "context_too_long"}, context="drop")
    with pytest.raises(ContextTooLong):
        await run_to_output(agent, FakeExecution(earlier=earlier))


async def test_a_summary_does_not_use_up_the_tokens_of_the_answer() -> None:
    def turns(conversation: Conversation) -> Mapping[str, Any]:
        return {"text": "Sum." if is_summary(conversation) else "All.", "usage": {"output_tokens": 40}}

    earlier = [[{"role": "user", "content": "q" * 900}]] * 5
    agent = Agent("a", model="scripted", turns=turns, max_context_tokens=600, max_output_tokens=50)
    output, requests = await run_with_requests(agent, FakeExecution(earlier=earlier))
    assert (output.text, output.stop_reason) == ("All.", "end_turn")
    assert requests[-1].max_output_tokens == 50
    assert {request.purpose for request in requests} == {"summary", "answer"}
    assert max(estimate_tokens(request.messages) for request in requests) <= 600


async def test_a_model_without_a_summary_is_an_error_and_an_unknown_mode_is_refused() -> None:
    agent = Agent("a", model="scripted", turns=lambda _: {"text": " "}, history=1)
    with pytest.raises(ModelUnavailable, match="no summary"):
        await run_to_output(agent, FakeExecution(earlier=[[{"role": "user", "content": "q"}]] * 2))
    with pytest.raises(Invalid, match="summarize"):
        Agent("a", model="scripted", turns=[{"text": "a"}], context="forget")  # type: ignore[arg-type]
