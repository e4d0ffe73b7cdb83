"""A model agent stops at its limits, sends the history that fits, and notices a cancel."""

from collections.abc import Mapping
from typing import Any

import pytest

from runyard.agents.declared.agent import Agent
from runyard.agents.execution import Canceled, ModelOutput
from runyard.agents.kinds.runners import RUNNERS
from runyard.domain.events import StepFinished
from runyard.errors import ContextTooLong, Invalid, ModelRefused, ModelUnavailable, RateLimited
from tests.agents.fake_execution import FakeExecution
from tests.agents.model.model_agents import DONE, look, model_agent, run_to_output, run_with_requests, turn_with_calls

# --- limits ------------------------------------------------------------------------------------------------------


COSTLY = {"usage": {"input_tokens": 1000, "output_tokens": 60, "usd": 0.06}}


@pytest.mark.req("S3.19", "S3.13")
async def test_a_model_agent_stops_after_max_turns() -> None:
    execution = FakeExecution()
    output = await run_to_output(model_agent(*[turn_with_calls(("look", {"where": "x"}), text="m")] * 9), execution)

    assert output.stop_reason == "max_steps"
    assert output.text == "m\n\nm\n\nm\n\nm\n\nm"
    assert execution.types().count("model.message") == 5, "the default"
    assert execution.types().count("tool.finished") == 5


@pytest.mark.req("S3.19")
async def test_an_answer_in_the_last_turn_that_is_allowed_is_an_answer() -> None:
    output = await run_to_output(
        model_agent(turn_with_calls(("look", {"where": "x"})), DONE, max_turns=2), FakeExecution()
    )

    assert output == ModelOutput("All done.", stop_reason="end_turn")


@pytest.mark.req("S3.13")
async def test_an_invalid_call_in_the_last_turn_is_the_stop_reason() -> None:
    output = await run_to_output(model_agent(turn_with_calls(("fly", {})), max_turns=1), FakeExecution())

    assert output.stop_reason == "invalid_tool_call"


@pytest.mark.req("S3.20", "S3.13")
@pytest.mark.parametrize(
    ("limit", "turns"),
    [({"max_usd": 0.10}, 2), ({"max_usd": 0.05}, 1), ({"max_output_tokens": 100}, 2)],
    ids=str,
)
async def test_the_model_is_not_asked_again_once_the_budget_is_spent(limit: dict[str, Any], turns: int) -> None:
    turn = turn_with_calls(("look", {"where": "x" * 40}), **COSTLY)
    execution = FakeExecution()
    output, requests = await run_with_requests(model_agent(turn, turn, turn, DONE, **limit), execution)

    assert output.stop_reason == "max_tokens_exceeded"
    assert len(requests) == turns
    assert execution.types().count("tool.finished") == turns, (
        "the requested calls are made, although the model is not asked again"
    )


@pytest.mark.req("S2.6")
async def test_a_conversation_that_outgrows_its_limit_is_an_error() -> None:
    turn = turn_with_calls(("look", {"where": "x" * 40}), **COSTLY)
    execution = FakeExecution()
    with pytest.raises(ContextTooLong, match="max_context_tokens"):
        await run_to_output(model_agent(turn, DONE, max_context_tokens=40), execution)
    assert execution.types().count("tool.finished") == 1, "the second question is too long"


@pytest.mark.req("S2.6")
@pytest.mark.parametrize("kind", ["text", "thinking"])
async def test_an_answer_that_overruns_its_limit_is_cut_off_while_it_streams(kind: str) -> None:
    pieces = ["word " for _ in range(1000)]
    execution = FakeExecution()
    output = await run_to_output(model_agent({kind: pieces}, max_output_tokens=10), execution)
    assert output.stop_reason == "max_tokens_exceeded"
    shown = sum(event.type in ("model.token", "model.thinking") for event in execution.events)
    assert shown == 17, "twice 10 tokens of 4 letters, and the piece that is too much"
    [step] = [event.payload for event in execution.events if isinstance(event.payload, StepFinished)]
    assert step.usage is not None
    assert step.usage.output_tokens >= 10


@pytest.mark.req("S2.6")
async def test_a_provider_that_reports_too_many_tokens_ends_the_answer_by_its_limit() -> None:
    turn = {"text": "I am done", "usage": {"output_tokens": 500}}
    output = await run_to_output(model_agent(turn, max_output_tokens=100), FakeExecution())
    assert (output.text, output.stop_reason) == ("I am done", "max_tokens_exceeded")


async def test_a_request_has_the_remaining_token_budget() -> None:
    turn = turn_with_calls(("look", {"where": "x"}), **COSTLY)
    _, requests = await run_with_requests(model_agent(turn, DONE, max_output_tokens=100), FakeExecution())

    assert [request.max_output_tokens for request in requests] == [100, 40]


async def test_a_message_that_was_cut_short_is_the_last_one_and_calls_nothing() -> None:
    turn = turn_with_calls(("look", {"where": "x"}), text="I beg", finish="length")
    execution = FakeExecution()
    output = await run_to_output(model_agent(turn, DONE), execution)

    assert output == ModelOutput("I beg", stop_reason="max_tokens_exceeded")
    assert "tool.requested" not in execution.types()
    again = await run_to_output(model_agent(turn, DONE), FakeExecution(execution.log))
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
        await run_to_output(model_agent({"text": "Hal", "error": code}), FakeExecution())
    assert caught.value.code == code  # type: ignore[attr-defined]


# --- what was said before ----------------------------------------------------------------------------------------


def exchange(n: int, size: int = 1) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"q{n}" * size}, {"role": "assistant", "content": f"a{n}"}]


@pytest.mark.req("S1.34")
async def test_a_request_begins_with_the_instructions_and_the_history() -> None:
    execution = FakeExecution(text="now", earlier=[exchange(1), exchange(2)])
    _, [request] = await run_with_requests(model_agent(DONE, instructions="Be kind."), execution)

    assert [message["content"] for message in request.messages] == ["Be kind.", "q1", "a1", "q2", "a2", "now"]


@pytest.mark.parametrize(
    ("options", "told", "read"),
    [({"history": 2}, [3, 4], 2), ({"history": 0}, [], 0), ({"max_context_tokens": 100}, [4], 2)],
    ids=str,
)
async def test_the_newest_runs_that_fit_are_included_whole(options: dict[str, Any], told: list[int], read: int) -> None:
    execution = FakeExecution(text="now", earlier=[exchange(n, 80) for n in (1, 2, 3, 4)])
    _, [request] = await run_with_requests(model_agent(DONE, context="drop", **options), execution)

    said = [message["content"] for message in request.messages if message["role"] == "assistant"]
    assert said == [f"a{n}" for n in told]
    assert execution.read_back == read


# --- cancel ------------------------------------------------------------------------------------------------------


@pytest.mark.req("S1.26")
async def test_a_cancel_is_noticed_between_two_tokens_and_before_each_step() -> None:
    execution = FakeExecution()

    def turn(_: Any) -> Mapping[str, Any]:
        execution.cancelled = True
        return {"text": ["a", "b"]}

    with pytest.raises(Canceled):
        await run_to_output(Agent("a", model="scripted", turns=turn), execution)
    assert "model.token" not in execution.types()

    execution = FakeExecution()
    execution.cancelled = True
    with pytest.raises(Canceled):
        await run_to_output(model_agent(DONE), execution)
    assert execution.types() == []


# --- declarations ------------------------------------------------------------------------------------------------


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
    ],
)
def test_a_bad_declaration_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Agent("a", **options)


def test_a_model_sets_the_kind_and_its_key_is_not_shown() -> None:
    agent = Agent("a", model="openai/gpt-5-mini", model_options={"api_key": "sk-secret"})

    assert agent.kind == "model"
    assert "sk-secret" not in repr(agent) + repr(agent.model_settings)
    assert agent.kind in RUNNERS


def test_the_version_changes_with_what_the_agent_is_made_of() -> None:
    versions = {
        model_agent(DONE).version,
        model_agent({"text": "x"}).version,
        model_agent(DONE, instructions="x").version,
        model_agent(DONE, tools=[look]).version,
        Agent("a", model="openai/gpt-5-mini").version,
        Agent("a", model="scripted", turns=lambda conversation: DONE).version,
    }

    assert len(versions) == 6
    assert model_agent(DONE).version == model_agent(DONE).version
