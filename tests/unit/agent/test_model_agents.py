"""An agent that thinks: think, call, observe, within its limits, and every call ends in one thing told to the model."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from runyard.agents.agent import Agent
from runyard.agents.calls import at_work, output
from runyard.agents.execution import Answered, Canceled
from runyard.agents.mind import Mind
from runyard.agents.runners import RUNNERS
from runyard.agents.runners.model import ModelRunner
from runyard.agents.tools import Tool, tool
from runyard.domain.conversation import messages
from runyard.domain.events import Event, ModelMessage, StepFinished, ToolFinished, ToolOutput, ToolStarted, Usage
from runyard.domain.run import Status
from runyard.errors import ContextTooLong, Invalid, ModelRefused, ModelUnavailable, RateLimited, ToolFailed
from runyard.model import Request
from runyard.models.scripted import ScriptedModel
from tests.unit.agent.fake_execution import FakeExecution, decided, parked

DONE = {"text": ["All ", "done."]}


@tool(effects="none")
async def look(where: str) -> dict[str, str]:
    """Look somewhere."""
    return {"seen": where}


@tool(approval="always")
async def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def wants(*calls: tuple[str, Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    return {"calls": [{"tool": name, "input": given} for name, given in calls], **more}


def thinker(*turns: Mapping[str, Any], tools: Sequence[Tool[..., Any]] = (look, pay), **options: Any) -> Agent:
    return Agent("a", model="scripted", turns=turns, tools=tools, **options)


class Overheard(ScriptedModel):
    """A scripted model that remembers what it was asked."""

    def __init__(self, mind: Mind) -> None:
        super().__init__(mind.turns)
        self.requests: list[Request] = []

    def stream(self, request: Request, /) -> Any:
        self.requests.append(msgspec.structs.replace(request, messages=list(request.messages)))
        return super().stream(request)


async def asked(agent: Agent, execution: FakeExecution) -> tuple[Answered, list[Request]]:
    """Run to the end; the answer, and what the model was asked."""
    assert agent.mind is not None
    model = Overheard(agent.mind)
    output = await ModelRunner(lambda _: model)(agent, execution)
    await execution.commit()
    assert isinstance(output, Answered)
    return output, model.requests


async def answered(agent: Agent, execution: FakeExecution) -> Answered:
    return (await asked(agent, execution))[0]


def results(request: Request) -> list[str]:
    return [message["content"] for message in request.messages if message["role"] == "tool"]


def payloads(execution: FakeExecution, kind: type[Any]) -> list[Any]:
    return [event.payload for event in execution.events if isinstance(event.payload, kind)]


# --- think, call, observe ------------------------------------------------------------------------------------------


@pytest.mark.req("S1.44", "S1.14")
async def test_a_turn_is_a_step_with_its_text_its_message_and_what_it_cost() -> None:
    turn = {
        "thinking": ["hm", "m"],
        "text": ["He", "llo"],
        "usage": {"input_tokens": 3, "output_tokens": 2, "usd": 0.01},
    }
    execution = FakeExecution(text="hi")
    output, [request] = await asked(thinker(turn, instructions="Be kind."), execution)

    assert output == Answered("Hello", stop_reason="end_turn")
    assert execution.types() == [
        "step.started", "model.thinking", "model.thinking", "model.token", "model.token", "model.message",
        "step.finished",
    ]  # fmt: skip
    [message] = payloads(execution, ModelMessage)
    assert message.message == {"role": "assistant", "content": "Hello", "reasoning_content": "hmm"}
    assert payloads(execution, StepFinished)[0].usage == Usage(3, 2, 0.01)
    assert execution.fold().usage == Usage(3, 2, 0.01), "what a turn cost is counted once"
    assert request.messages == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
    assert [described["function"]["name"] for described in request.tools] == ["look", "pay"]
    assert request.tools[0]["function"]["parameters"]["required"] == ["where"]


@pytest.mark.req("S1.14", "S1.44")
async def test_what_the_tool_returned_is_told_to_the_model_which_then_answers() -> None:
    execution = FakeExecution()
    agent = thinker(wants(("look", {"where": "here"}), text="One moment."), DONE)
    output, [_, second] = await asked(agent, execution)

    assert output.text == "One moment.\n\nAll done."
    assert output.text == execution.fold().text, "the answer is what was shown"
    assert execution.types() == [
        "step.started", "model.token", "model.message", "step.finished", "tool.requested", "tool.started",
        "tool.finished", "step.started", "model.token", "model.token", "model.message", "step.finished",
    ]  # fmt: skip
    assert [message["role"] for message in second.messages] == ["user", "assistant", "tool"]
    assert results(second) == ['{"seen":"here"}']


@pytest.mark.req("S1.55")
async def test_the_calls_of_a_turn_run_side_by_side_and_are_told_in_their_order() -> None:
    both = asyncio.Barrier(2)

    @tool(effects="none")
    async def meet(name: str) -> str:
        await asyncio.wait_for(both.wait(), 5)
        return name

    execution = FakeExecution()
    agent = thinker(wants(("meet", {"name": "a"}), ("meet", {"name": "b"})), DONE, tools=[meet])
    _, requests = await asked(agent, execution)

    assert results(requests[1]) == ["a", "b"]
    assert execution.types()[3:7] == ["tool.requested", "tool.requested", "tool.started", "tool.started"]


async def test_the_answer_is_all_that_was_shown_and_says_what_was_said_last() -> None:
    turns = wants(("look", {"where": "x"}), text=["Let me look."]), DONE
    output, _ = await asked(thinker(*turns), FakeExecution())

    assert output == Answered("Let me look.\n\nAll done.", stop_reason="end_turn", last="All done.")


async def test_a_message_and_all_it_asks_for_are_one_append() -> None:
    execution = FakeExecution()
    await parked(thinker(wants(("look", {"where": "x"}), ("pay", {"amount": 1}), ("pay", {"amount": 2}))), execution)

    committed = execution.commits[0]
    assert committed[-7:] == [
        "model.message", "step.finished", "tool.requested", "tool.requested", "approval.requested",
        "tool.requested", "approval.requested",
    ]  # fmt: skip


@pytest.mark.req("S1.54")
async def test_a_tool_may_show_its_output_while_it_runs(tmp_path: Path) -> None:
    @tool(effects="none")
    async def dig() -> str:
        await output("10 %")
        await output("90 %")
        return "gold"

    execution = FakeExecution()
    with at_work(execution, tmp_path):
        _, requests = await asked(thinker(wants(("dig", {})), DONE, tools=[dig]), execution)

    shown = payloads(execution, ToolOutput)
    assert [(piece.call_id, piece.text) for piece in shown] == [("call_1_1", "10 %"), ("call_1_1", "90 %")]
    assert results(requests[1]) == ["gold"]


async def test_calls_get_ids_of_their_own_where_the_provider_repeats_them() -> None:
    same = {
        "calls": [
            {"tool": "look", "input": {"where": "x"}, "id": "c"},
            {"tool": "look", "input": {"where": "y"}, "id": ""},
        ]
    }
    execution = FakeExecution()
    await answered(thinker(same, same, DONE), execution)

    ids = [started.call_id for started in payloads(execution, ToolStarted)]
    assert len(ids) == len(set(ids)) == 4
    assert ids[0] == "c"
    assert len(messages(execution.fold(), "hi")) == 1 + 3 + 3 + 1


# --- what goes wrong in a call is told to the model -----------------------------------------------------------------


@pytest.mark.req("S1.41")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("a secret"), "Error executing tool: ValueError"),
        (ToolFailed("Out of stock."), "Error executing tool: Out of stock."),
        (TimeoutError(), "Error executing tool: timeout"),
        (SystemExit(3), "Error executing tool: The tool called exit."),
    ],
)
async def test_what_a_tool_raises_becomes_its_result(error: BaseException, told: str) -> None:
    @tool(effects="none")
    async def fails() -> None:
        raise error

    execution = FakeExecution()
    output, requests = await asked(thinker(wants(("fails", {})), DONE, tools=[fails]), execution)

    assert output.text == "All done."
    assert results(requests[1]) == [told]
    [finished] = payloads(execution, ToolFinished)
    assert finished.output == told
    assert finished.error is not None


@pytest.mark.req("S1.41", "S1.15")
@pytest.mark.parametrize(
    ("call", "told", "code"),
    [
        ({"tool": "fly", "input": {}}, "There is no tool of that name.", "unknown_tool"),
        ({"tool": "look", "arguments": "{oops"}, "The arguments are not valid JSON.", "invalid_input"),
        ({"tool": "look", "arguments": "[1]"}, "The arguments are not a JSON object.", "invalid_input"),
        ({"tool": "look", "input": {"where": 5}}, "The arguments of look do not fit: expected `str`", "invalid_input"),
        ({"tool": "pay", "input": {}}, "The arguments of pay do not fit: object missing", "invalid_input"),
    ],
)
async def test_a_call_that_cannot_be_made_is_told_to_the_model(call: dict[str, Any], told: str, code: str) -> None:
    execution = FakeExecution()
    output, requests = await asked(thinker({"calls": [call]}, DONE), execution)

    assert output == Answered("All done.", stop_reason="end_turn")
    [said] = results(requests[1])
    assert said.startswith(f"Error executing tool: {told}")
    assert [finished.error for finished in payloads(execution, ToolFinished)] == [code]
    assert execution.types()[3:6] == ["tool.requested", "tool.started", "tool.finished"]


# --- people --------------------------------------------------------------------------------------------------------


@pytest.mark.req("S1.17", "S1.22")
async def test_a_call_that_needs_a_person_starts_after_the_grant() -> None:
    agent, first = thinker(wants(("pay", {"amount": 5})), DONE), FakeExecution()
    [approval_id] = await parked(agent, first)
    assert "tool.started" not in first.types()
    assert first.approvals[0].tool == "pay"
    assert first.approvals[0].input == {"amount": 5}

    execution = FakeExecution(decided(first.log, approval_id))
    output, requests = await asked(agent, execution)

    assert execution.types()[:2] == ["tool.started", "tool.finished"]
    assert results(requests[0]) == ["paid 5"]
    assert output.text == "All done."


@pytest.mark.req("S1.23")
async def test_a_rejected_call_is_not_made_and_the_model_is_told_why() -> None:
    agent, first = thinker(wants(("pay", {"amount": 5})), DONE), FakeExecution()
    [approval_id] = await parked(agent, first)

    execution = FakeExecution(decided(first.log, approval_id, "rejected", reason="Too much."))
    output, [request] = await asked(agent, execution)

    assert not {"tool.started", "tool.finished"} & set(execution.types())
    assert results(request) == ["A person rejected this call; it was not made. Reason: Too much."]
    assert output == Answered("All done.", stop_reason="end_turn")


async def test_an_edited_call_is_made_as_edited_and_the_model_is_told() -> None:
    agent, first = thinker(wants(("pay", {"amount": 5})), DONE), FakeExecution()
    [approval_id] = await parked(agent, first)

    execution = FakeExecution(decided(first.log, approval_id, input={"amount": 3}))
    _, [request] = await asked(agent, execution)

    assert [started.input for started in payloads(execution, ToolStarted)] == [{"amount": 3}]
    assert results(request) == ['A person changed the input of this call to {"amount":3}.\npaid 3']
    assert messages(execution.fold(), "hello")[:-1] == list(request.messages), "the log tells the same"


async def test_an_edit_that_does_not_fit_is_told_to_the_model() -> None:
    agent, first = thinker(wants(("pay", {"amount": 5})), DONE), FakeExecution()
    [approval_id] = await parked(agent, first)

    execution = FakeExecution(decided(first.log, approval_id, input={"amount": "all"}))
    _, [request] = await asked(agent, execution)

    [said] = results(request)
    assert said.endswith("Error executing tool: The edited input of pay does not fit.")
    assert messages(execution.fold(), "hello")[:-1] == list(request.messages)


@pytest.mark.req("S1.19", "S1.55")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_neighbours_go_on_any_decision_resumes_and_the_model_waits_for_all(order: tuple[int, int]) -> None:
    turn = wants(("pay", {"amount": 1}), ("look", {"where": "x"}), ("pay", {"amount": 2}))
    agent, first = thinker(turn, DONE), FakeExecution()
    approvals = await parked(agent, first)
    assert [finished.tool for finished in payloads(first, ToolFinished)] == ["look"], "it did not wait for the others"
    assert len(approvals) == 2

    one, other = (approvals[place] for place in order)
    second = FakeExecution(decided(first.log, one))
    assert await parked(agent, second) == [other], "it waits for what is left"
    assert second.types() == ["tool.started", "tool.finished"]

    third = FakeExecution(decided(second.log, other, "rejected"))
    _, [request] = await asked(agent, third)
    told = ["paid 1", "paid 2"]
    told[order[1]] = "A person rejected this call; it was not made."
    assert results(request) == [told[0], '{"seen":"x"}', told[1]]


async def test_a_rule_that_cannot_decide_has_not_allowed_the_call() -> None:
    def rule(given: Mapping[str, Any]) -> bool:
        raise KeyError("amount")

    ruled = Tool(pay.fn, approval=rule)
    assert len(await parked(thinker(wants(("pay", {"amount": 5})), tools=[ruled]), FakeExecution())) == 1


# --- limits --------------------------------------------------------------------------------------------------------

COSTLY = {"usage": {"input_tokens": 1000, "output_tokens": 60, "usd": 0.06}}


@pytest.mark.req("S3.19", "S3.13")
async def test_after_so_many_turns_it_stops() -> None:
    execution = FakeExecution()
    output = await answered(thinker(*[wants(("look", {"where": "x"}), text="m")] * 9), execution)

    assert output.stop_reason == "max_steps"
    assert output.text == "m\n\nm\n\nm\n\nm\n\nm"
    assert execution.types().count("model.message") == 5, "the default"
    assert execution.types().count("tool.finished") == 5


@pytest.mark.req("S3.19")
async def test_an_answer_in_the_last_turn_that_is_allowed_is_an_answer() -> None:
    output = await answered(thinker(wants(("look", {"where": "x"})), DONE, max_turns=2), FakeExecution())

    assert output == Answered("All done.", stop_reason="end_turn")


@pytest.mark.req("S3.13")
async def test_nonsense_in_the_last_turn_is_named_as_such() -> None:
    output = await answered(thinker(wants(("fly", {})), max_turns=1), FakeExecution())

    assert output.stop_reason == "invalid_tool_call"


@pytest.mark.req("S3.20", "S3.13")
@pytest.mark.parametrize(
    ("limit", "turns"),
    [({"max_usd": 0.10}, 2), ({"max_usd": 0.05}, 1), ({"max_output_tokens": 100}, 2), ({"max_context_tokens": 40}, 1)],
    ids=str,
)
async def test_no_further_question_once_it_is_spent(limit: dict[str, Any], turns: int) -> None:
    turn = wants(("look", {"where": "x" * 40}), **COSTLY)
    execution = FakeExecution()
    output, requests = await asked(thinker(turn, turn, turn, DONE, **limit), execution)

    assert output.stop_reason == "max_tokens_exceeded"
    assert len(requests) == turns
    assert execution.types().count("tool.finished") == turns, "what was asked for is done, and told to nobody"


async def test_the_model_is_told_how_much_it_may_still_say() -> None:
    turn = wants(("look", {"where": "x"}), **COSTLY)
    _, requests = await asked(thinker(turn, DONE, max_output_tokens=100), FakeExecution())

    assert [request.max_output_tokens for request in requests] == [100, 40]


async def test_a_message_that_was_cut_short_is_the_last_one_and_calls_nothing() -> None:
    turn = wants(("look", {"where": "x"}), text="I beg", finish="length")
    execution = FakeExecution()
    output = await answered(thinker(turn, DONE), execution)

    assert output == Answered("I beg", stop_reason="max_tokens_exceeded")
    assert "tool.requested" not in execution.types()
    again = await answered(thinker(turn, DONE), FakeExecution(execution.log))
    assert again == output, "also after a crash"


@pytest.mark.req("S1.42")
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("rate_limited", RateLimited),
        ("model_refused", ModelRefused),
        ("context_too_long", ContextTooLong),
        ("model_unavailable", ModelUnavailable),
    ],
)
async def test_a_model_that_fails_ends_the_run_with_its_code(code: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        await answered(thinker({"text": "Hal", "error": code}), FakeExecution())
    assert caught.value.code == code  # type: ignore[attr-defined]


# --- what was said before ------------------------------------------------------------------------------------------


def exchange(n: int, size: int = 1) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"q{n}" * size}, {"role": "assistant", "content": f"a{n}"}]


@pytest.mark.req("S1.34")
async def test_it_begins_with_what_was_said_before_instructions_first() -> None:
    execution = FakeExecution(text="now", earlier=[exchange(1), exchange(2)])
    _, [request] = await asked(thinker(DONE, instructions="Be kind."), execution)

    assert [message["content"] for message in request.messages] == ["Be kind.", "q1", "a1", "q2", "a2", "now"]


@pytest.mark.parametrize(
    ("options", "told", "read"),
    [({"history": 2}, [3, 4], 2), ({"history": 0}, [], 0), ({"max_context_tokens": 100}, [4], 2)],
    ids=str,
)
async def test_the_newest_that_fit_are_told_whole_or_not_at_all(
    options: dict[str, Any], told: list[int], read: int
) -> None:
    execution = FakeExecution(text="now", earlier=[exchange(n, 80) for n in (1, 2, 3, 4)])
    _, [request] = await asked(thinker(DONE, **options), execution)

    said = [message["content"] for message in request.messages if message["role"] == "assistant"]
    assert said == [f"a{n}" for n in told]
    assert execution.read_back == read


# --- cancel --------------------------------------------------------------------------------------------------------


@pytest.mark.req("S1.26")
async def test_a_cancel_is_noticed_between_two_tokens_and_before_each_step() -> None:
    execution = FakeExecution()

    def turn(_: Any) -> Mapping[str, Any]:
        execution.cancelled = True
        return {"text": ["a", "b"]}

    with pytest.raises(Canceled):
        await answered(Agent("a", model="scripted", turns=turn), execution)
    assert "model.token" not in execution.types()

    execution = FakeExecution()
    execution.cancelled = True
    with pytest.raises(Canceled):
        await answered(thinker(DONE), execution)
    assert execution.types() == []


# --- declarations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"model": ""},
        {"model": "scripted"},
        {"model": "openai/gpt-5-mini", "turns": [DONE]},
        {"model": "scripted", "turns": [{"sing": "la"}]},
        {"model": "scripted", "turns": [DONE], "max_turns": 0},
        {"model": "scripted", "turns": [DONE], "max_usd": 0},
        {"model": "scripted", "turns": [DONE], "max_output_tokens": -1},
        {"model": "scripted", "turns": [DONE], "history": 1000},
        {"model": "scripted", "turns": [DONE], "kind": "python"},
        {"model": "scripted", "turns": [DONE], "fn": answered},
        {"kind": "model"},
    ],
)
def test_a_bad_declaration_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Agent("a", **options)


def test_a_model_says_the_kind_and_a_key_is_shown_nowhere() -> None:
    agent = Agent("a", model="openai/gpt-5-mini", model_options={"api_key": "sk-secret"})

    assert agent.kind == "model"
    assert "sk-secret" not in repr(agent) + repr(agent.mind)
    assert agent.kind in RUNNERS


def test_the_version_changes_with_what_the_agent_is_made_of() -> None:
    versions = {
        thinker(DONE).version,
        thinker({"text": "x"}).version,
        thinker(DONE, instructions="x").version,
        thinker(DONE, tools=[look]).version,
        Agent("a", model="openai/gpt-5-mini").version,
        Agent("a", model="scripted", turns=lambda conversation: DONE).version,
    }

    assert len(versions) == 6
    assert thinker(DONE).version == thinker(DONE).version


# --- after a crash -------------------------------------------------------------------------------------------------


class Counted:
    """A turn of everything, and how often its tools were called."""

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

        self.agent = thinker(
            wants(("read", {"what": "r"}), ("send", {"what": "s"}), text=["Let me ", "see."], thinking="hm"),
            wants(("fly", {})),
            DONE,
            tools=[read, send],
        )


@pytest.mark.req("S0.36")
async def test_at_any_event_a_crash_repeats_nothing_silently_and_the_answer_is_the_same() -> None:
    whole = FakeExecution()
    expected, last_seen = await asked(Counted().agent, whole)
    log = whole.log

    for cut in range(1, len(log) + 1):
        prefix = _consistent(log, cut)
        if prefix is None:
            continue
        counted, execution = Counted(), FakeExecution(prefix)
        sent_before = any(isinstance(e.payload, ToolStarted) and e.payload.tool == "send" for e in prefix)
        done_before = any(isinstance(e.payload, ToolFinished) and e.payload.tool == "send" for e in prefix)
        if sent_before and not done_before:
            [approval_id] = await parked(counted.agent, execution)
            assert execution.approvals[0].kind == "unknown_outcome"
            assert [key for key in counted.calls if key != "read"] == []
            execution = FakeExecution(decided(execution.log, approval_id, "rejected"))
            output, requests = await asked(counted.agent, execution)
            assert "Whether it took effect is not known" in results(requests[0])[1]
        else:
            output, requests = await asked(counted.agent, execution)
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
    """The first `cut` events, unless they end inside of what is always written in one append."""
    inside = {"step.finished", "tool.requested"}
    return None if cut < len(log) and log[cut].type in inside else log[:cut]
