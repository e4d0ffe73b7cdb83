"""litellm behind `runyard.models.model.Model`, over real HTTP: answers arrive whole, and failures have codes."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from runyard.domain.events import Usage
from runyard.errors import ContextTooLong, ModelError, ModelRefused, ModelTimedOut, RateLimited
from runyard.models.litellm import LitellmModel, Patience, _by
from runyard.models.loading import load
from runyard.models.model import AnswerPiece, Finished, Request, Text, Thinking
from tests.support.eventually import PATIENCE
from tests.support.fakes.scripted_openai import (
    ScriptedOpenAI,
    begin,
    call,
    chunk,
    clean_end,
    cut,
    end,
    raw,
    scripted_openai,
    status,
    text,
)

SECRET = "the secret of the conversation"
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    load()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedOpenAI]:
    async with scripted_openai() as server:
        yield server


class Naps:
    """Replaces sleep: takes no time and records the durations."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def question(server: ScriptedOpenAI, model: str = "openai/scripted", **more: Any) -> Request:
    options = {"api_base": server.api_base, "api_key": "sk-test"}
    messages: list[dict[str, Any]] = more.pop("messages", [{"role": "user", "content": SECRET}])
    return Request(model=model, messages=messages, options=options, **more)


async def heard(
    request: Request, model: LitellmModel | None = None, hear: list[AnswerPiece] | None = None
) -> list[AnswerPiece]:
    got = [] if hear is None else hear
    async with aclosing((model or LitellmModel(sleep=Naps())).stream(request)) as saying:
        async for said in saying:
            got.append(said)
    return got


async def failure(
    request: Request, model: LitellmModel | None = None, hear: list[AnswerPiece] | None = None
) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await heard(request, model, hear)
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__
    return caught.value


@pytest.mark.req("S1.44", "S0.32")
async def test_text_and_reasoning_arrive_piece_by_piece_and_then_whole(server: ScriptedOpenAI) -> None:
    reasons = [chunk({"reasoning_content": "hm"}), chunk({"reasoning_content": "m"})]
    server.answer(begin(), *reasons, *text("Grü", "ße, ", "🦜"), *end(prompt=7, completion=3))

    *deltas, last = await heard(question(server))

    assert deltas == [Thinking("hm"), Thinking("m"), Text("Grü"), Text("ße, "), Text("🦜")]
    assert last == Finished(
        message={"role": "assistant", "content": "Grüße, 🦜", "reasoning_content": "hmm"},
        usage=Usage(7, 3),
        reason="stop",
    )
    [sent] = server.requests
    assert sent["model"] == "scripted"
    assert sent["stream_options"] == {"include_usage": True}
    assert sent["messages"] == [{"role": "user", "content": SECRET}]
    assert "tools" not in sent


@pytest.mark.req("S1.44", "S1.55")
async def test_parallel_calls_are_put_together_by_their_index(server: ScriptedOpenAI) -> None:
    pieces = [
        call(0, id="a", name="look"),
        call(1, id="b", name="pay", arguments='{"am'),
        call(0, arguments='{"where":'),
        call(1, arguments='ount": 5}'),
        call(0, arguments=' "here"}'),
    ]
    server.answer(begin(), *text("One moment."), *pieces, *end("tool_calls"))

    last = (await heard(question(server, tools=[TOOL], max_output_tokens=99)))[-1]

    assert isinstance(last, Finished)
    assert last.reason == "tool_calls"
    assert last.message == {
        "role": "assistant",
        "content": "One moment.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"where": "here"}'}},
            {"id": "b", "type": "function", "function": {"name": "pay", "arguments": '{"amount": 5}'}},
        ],
    }
    assert server.requests[0]["tools"] == [TOOL]
    assert 99 in (server.requests[0].get("max_tokens"), server.requests[0].get("max_completion_tokens"))


async def test_a_model_with_a_known_price_costs_it(server: ScriptedOpenAI) -> None:
    server.answer(begin(), *text("ok"), *end(prompt=1_000_000, completion=0))

    last = (await heard(question(server, model="openai/gpt-5-mini")))[-1]

    assert isinstance(last, Finished)
    assert last.usage.usd == pytest.approx(load().model_cost["gpt-5-mini"]["input_cost_per_token"] * 1_000_000)
    assert last.usage.usd > 0


async def test_a_call_that_was_no_json_is_sent_back_as_an_object(server: ScriptedOpenAI) -> None:
    wants = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{oops"}}
    said = [{"role": "assistant", "content": None, "tool_calls": [wants]}]
    server.answer(begin(), *text("ok"), *end())

    await heard(question(server, messages=said))

    assert server.requests[0]["messages"][0]["tool_calls"][0]["function"] == {"name": "look", "arguments": "{}"}
    assert wants["function"] == {"name": "look", "arguments": "{oops"}, "the caller's message stays as it was"


# --- before the first delta it is tried again ----------------------------------------------------------------------


@pytest.mark.parametrize("code", [429, 500, 503])
async def test_a_busy_or_broken_provider_is_asked_again(server: ScriptedOpenAI, code: int) -> None:
    naps = Naps()
    server.answer(status(code))
    server.answer(status(code))
    server.answer(begin(), *text("ok"), *end())

    assert Text("ok") in await heard(question(server), LitellmModel(sleep=naps))
    assert naps.seconds == [0.5, 1.0]


@pytest.mark.parametrize(("asked", "pauses", "requests"), [("3", [3.0], 2), ("21", [], 1)])
async def test_the_pause_that_a_provider_asks_for_is_kept_within_bounds(
    server: ScriptedOpenAI, asked: str, pauses: list[float], requests: int
) -> None:
    naps = Naps()
    server.answer(status(429, retry_after=asked))
    server.answer(begin(), *text("ok"), *end())

    if pauses:
        await heard(question(server), LitellmModel(sleep=naps))
    else:
        assert isinstance(await failure(question(server), LitellmModel(sleep=naps)), RateLimited)
    assert naps.seconds == pauses
    assert len(server.requests) == requests


async def test_a_provider_that_stays_busy_is_rate_limited(server: ScriptedOpenAI) -> None:
    for _ in range(3):
        server.answer(status(429, SECRET))

    assert (await failure(question(server))).code == "rate_limited"
    assert len(server.requests) == 3, "three tries of Runyard, and no retries inside litellm"


async def test_an_unreachable_provider_is_model_unavailable(server: ScriptedOpenAI) -> None:
    request = Request(
        model="openai/scripted",
        messages=[{"role": "user", "content": SECRET}],
        options={"api_base": "http://127.0.0.1:1/v1", "api_key": "sk-test"},
    )

    assert (await failure(request)).code == "model_unavailable"


# --- refusals are final --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        ((401, SECRET, "invalid_api_key"), ModelRefused, "model_refused"),
        ((404, SECRET, "model_not_found"), ModelRefused, "model_refused"),
        ((400, SECRET, None), ModelRefused, "model_refused"),
        (
            (400, f"This model's maximum context length is 10 tokens. {SECRET}", "context_length_exceeded"),
            ContextTooLong,
            "context_too_long",
        ),
    ],
)
async def test_a_refused_request_is_not_repeated(
    server: ScriptedOpenAI, answer: tuple[int, str, str | None], kind: type[ModelError], code: str
) -> None:
    server.answer(status(*answer))

    error = await failure(question(server))

    assert type(error) is kind
    assert error.code == code
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("model", "variable"),
    [("openai/gpt-5-mini", "OPENAI_API_KEY"), ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY")],
)
async def test_a_missing_key_is_named_at_once(
    server: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch, model: str, variable: str
) -> None:
    monkeypatch.delenv(variable, raising=False)
    naps = Naps()
    options = {"api_base": server.api_base}
    request = Request(model=model, messages=[{"role": "user", "content": SECRET}], options=options)
    server.answer(status(401, SECRET, "invalid_api_key"))

    error = await failure(request, LitellmModel(sleep=naps))

    assert error.code == "model_refused"
    assert f"set the environment variable {variable}" in str(error)
    assert naps.seconds == [], "a request without a key is not repeated"


# --- after the first delta nothing is repeated ---------------------------------------------------------------------


@pytest.mark.parametrize("how", ["in the middle of a token", "cleanly, without an end", "with bad JSON"])
async def test_an_answer_that_was_cut_off_is_an_error(server: ScriptedOpenAI, how: str) -> None:
    ways = {
        "in the middle of a token": [cut()],
        "cleanly, without an end": [clean_end()],
        "with bad JSON": [raw('data: {"choices": [{"delta": {"content": \n\n'), *end()],
    }
    server.answer(begin(), *text("Hel"), *ways[how])
    got: list[AnswerPiece] = []

    assert (await failure(question(server), hear=got)).code == "model_unavailable"
    assert got == [Text("Hel")]
    assert len(server.requests) == 1, "what was begun is not begun again"


@pytest.mark.parametrize("after", [0, 2])
async def test_a_model_that_stalls_times_out(server: ScriptedOpenAI, after: int) -> None:
    server.answer(begin(), *text("a", "b")[:after], server.stall())

    error = await failure(question(server), LitellmModel(Patience(first=20, next=0.2, tries=1)))

    assert isinstance(error, ModelTimedOut)
    assert error.code == "model_timeout"
    await asyncio.wait_for(server.hung_up.wait(), PATIENCE)


async def test_a_timeout_stays_a_timeout_whatever_litellm_makes_of_it() -> None:
    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RuntimeError from None

    with pytest.raises(TimeoutError):
        await _by(asyncio.get_running_loop().time() + 0.01, stubborn())


@pytest.mark.req("S1.26", "S1.39", "S0.27")
@pytest.mark.parametrize("acts", [[], [begin()], [begin(), *text("a")]], ids=["silent", "begun", "speaking"])
async def test_cancelling_closes_the_request_at_once(server: ScriptedOpenAI, acts: list[Any]) -> None:
    async def took() -> float:
        server.answer(*acts, server.stall())
        listening = asyncio.create_task(heard(question(server)))
        await asyncio.wait_for(server.reached.wait(), PATIENCE)
        began = time.monotonic()
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        await asyncio.wait_for(server.hung_up.wait(), PATIENCE)
        return time.monotonic() - began

    assert await server.fastest(took, enough=0.2) < 0.2


async def test_a_large_answer_of_equal_pieces_arrives_whole(server: ScriptedOpenAI) -> None:
    server.answer(begin(), *text(*["x" * 10_000] * 200), *end())
    said = await heard(question(server))
    assert sum(len(piece.text) for piece in said if isinstance(piece, Text)) == 2_000_000
    assert isinstance(said[-1], Finished)


ANSWER = {
    "type": "object",
    "properties": {"total": {"type": "number"}},
    "required": ["total"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("model", "tools", "schema", "strict"),
    [
        ("openai/gpt-5-mini", [], ANSWER, True),
        ("openai/gpt-5-mini", [TOOL], ANSWER | {"minProperties": 1}, False),
        ("openai/gpt-5-mini", [], {"type": "object", "properties": {"total": {"type": "number"}}}, False),
    ],
    ids=["strict", "with tools", "not strict"],
)
async def test_a_provider_that_takes_schemas_gets_the_schema_of_the_answer(
    server: ScriptedOpenAI, model: str, tools: list[Any], schema: dict[str, Any], strict: bool
) -> None:
    server.answer(begin(), *text('{"total": 1}'), *end())
    await heard(question(server, model=model, tools=tools, answer=schema))
    [sent] = server.requests
    assert sent["response_format"]["json_schema"] == {"name": "answer", "schema": schema, "strict": strict}
    assert sent["messages"] == [{"role": "user", "content": SECRET}]


async def test_any_other_model_is_instructed_to_answer_with_the_schema(server: ScriptedOpenAI) -> None:
    told = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": SECRET}]
    for messages in (told[1:], told):
        server.answer(begin(), *text('{"total": 1}'), *end())
        await heard(question(server, model="openai/scripted", messages=messages, answer=ANSWER))
    alone, after = server.requests
    assert "response_format" not in alone
    for sent in (alone, after):
        assert [message["role"] for message in sent["messages"]] == ["system", "user"]
        assert '"required":["total"]' in sent["messages"][0]["content"]
    assert after["messages"][0]["content"].startswith("Be kind.\n\n")
