"""An agent with `answer` ends with a value that fits its schema, or with an error that says why it has none."""

from typing import Any

import msgspec
import pytest
from pydantic import BaseModel, field_validator

from runyard.agents.declared.agent import Agent
from runyard.domain.conversations.thread import Message
from runyard.domain.events import MessageReceived
from runyard.domain.state.conversation import messages
from runyard.errors import Invalid
from runyard.testing import RunResult, run_agent
from tests.agents.fake_execution import FakeExecution
from tests.agents.model.model_agents import look, model_agent, run_to_output, run_with_requests, turn_with_calls


class Invoice(msgspec.Struct):
    number: str
    total: float


class CheckedInvoice(BaseModel):
    number: str
    total: float

    @field_validator("total")
    @classmethod
    def positive(cls, total: float) -> float:
        if total <= 0:
            raise ValueError("a total of secret-value is not one")
        return total


SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "string"}, "total": {"type": "number", "exclusiveMinimum": 0}},
    "required": ["number", "total"],
}
GOOD = '{"number": "A-17", "total": 99.5}'
VALUE = {"number": "A-17", "total": 99.5}
WRONG = '{"number": "A-17", "total": "secret-value"}'


def clerk(*texts: str, answer: Any = Invoice, **options: Any) -> Agent:
    return Agent("clerk", model="scripted", turns=answers(*texts), answer=answer, **options)


def answers(*texts: str) -> Any:
    """A model that gives one answer after another, also after a message of the user."""
    return lambda conversation: {"text": texts[len(conversation) // 2]}


@pytest.mark.parametrize("answer", [Invoice, CheckedInvoice, SCHEMA], ids=["struct", "pydantic", "schema"])
@pytest.mark.parametrize(
    "text", [GOOD, f"```json\n{GOOD}\n```", f"\n```\n{GOOD}\n```\n"], ids=["json", "fence", "bare"]
)
async def test_an_answer_that_fits_is_the_outputs_of_the_run(answer: Any, text: str) -> None:
    result = await run_agent(clerk(text, answer=answer), "Read this invoice.")

    assert (result.status, result.outputs, result.text) == ("done", VALUE, text)
    assert result.answer_as(Invoice) == Invoice("A-17", 99.5)
    assert result.answer_as(CheckedInvoice) == CheckedInvoice(number="A-17", total=99.5)
    assert [step.name for step in result.steps] == ["think"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (WRONG, "`$.total` must be of type number"),
        ('{"total": 1}', "lacks the property `number`"),
        ("It costs 99.50.", "is not JSON"),
        ("[1]", "must be of type object"),
        ("[" * 5000, "is not JSON"),
        ("", "is not JSON"),
    ],
    ids=["type", "missing", "prose", "list", "deep", "empty"],
)
async def test_the_model_may_correct_its_answer_once(wrong: str, says: str) -> None:
    execution = FakeExecution()
    output, requests = await run_with_requests(clerk(wrong, GOOD), execution)

    assert output.outputs == VALUE
    assert output.last == (GOOD if wrong else None), "the text has both answers, as it was shown"
    assert [message["role"] for message in requests[1].messages][-1] == "user"
    assert says in requests[1].messages[-1]["content"]
    assert "secret-value" not in requests[1].messages[-1]["content"]
    assert [request.answer for request in requests] == [requests[0].answer] * 2
    read_later = messages(execution.fold(), "hello")
    assert read_later[: len(requests[1].messages)] == requests[1].messages, "the next run reads the same"


async def test_a_second_answer_that_does_not_fit_is_an_error_that_says_why() -> None:
    result = await run_agent(clerk(WRONG, WRONG, GOOD), "Read this.")

    assert failure(result) == ("invalid_answer", "error")
    assert result.error is not None
    assert "`$.total` must be of type number" in result.error.message
    assert "secret-value" not in result.error.message
    assert result.outputs == {}
    with pytest.raises(Invalid):
        result.answer_as(Invoice)


async def test_a_rule_of_a_pydantic_model_counts_and_its_message_is_not_repeated() -> None:
    result = await run_agent(clerk('{"number": "A", "total": -1}', GOOD, answer=CheckedInvoice), "Read this.")
    assert result.outputs == VALUE
    [check] = [step for step in result.steps if step.name == "check_answer"]
    assert check.error == "invalid_answer"
    assert "secret-value" not in str(check.result)


@pytest.mark.parametrize(
    ("turns", "limits", "why"),
    [
        ([{"text": WRONG}], {"max_turns": 1}, "max_steps"),
        ([turn_with_calls(("look", {"where": "x"}))], {"max_turns": 1}, "max_steps"),
        ([{"text": GOOD[:-4], "finish": "length"}], {}, "max_tokens_exceeded"),
        ([{"text": WRONG, "usage": {"usd": 1.0}}], {}, "max_tokens_exceeded"),
    ],
    ids=["correction", "calls", "cut short", "budget"],
)
async def test_a_run_that_a_limit_ends_before_its_answer_is_an_error(turns: Any, limits: Any, why: str) -> None:
    result = await run_agent(model_agent(*turns, tools=[look], answer=Invoice, **limits), "Read this.")
    assert failure(result) == ("invalid_answer", why)


async def test_tools_are_called_before_the_answer() -> None:
    agent = model_agent(turn_with_calls(("look", {"where": "x"})), {"text": GOOD}, tools=[look], answer=Invoice)
    result = await run_agent(agent, "Read this.")
    assert result.outputs == VALUE
    assert [call.tool for call in result.tool_calls] == ["look"]


async def test_a_crash_at_any_event_repeats_no_correction() -> None:
    whole = FakeExecution()
    expected, seen = await run_with_requests(clerk(WRONG, GOOD), whole)
    steps = [event.type for event in whole.log].count("step.started")
    assert steps == 3
    log = whole.log
    for cut in range(1, len(log) + 1):
        if cut < len(log) and log[cut].type in ("step.finished", "step.started") and log[cut - 1].type != "run.queued":
            continue  # inside one append
        execution = FakeExecution(log[:cut])
        output, requests = await run_with_requests(clerk(WRONG, GOOD), execution)
        assert (output.outputs, output.text) == (expected.outputs, expected.text), f"cut at {cut}"
        assert [event.type for event in execution.log].count("step.started") == steps
        if requests:
            assert requests[-1].messages == seen[-1].messages


async def test_a_message_that_comes_during_a_correction_stands_after_it() -> None:
    execution = FakeExecution()
    execution.new.append(Message(id="n", thread_id="t", role="user", text="In EUR.", created_at=0))
    execution.emit(MessageReceived("n", "In EUR."))

    def turns(conversation: Any) -> dict[str, Any]:
        return {"text": WRONG if conversation[-1]["content"] == "In EUR." and len(conversation) == 2 else GOOD}

    output, requests = await run_with_requests(Agent("clerk", model="scripted", turns=turns, answer=Invoice), execution)
    assert output.outputs == VALUE
    assert [message["role"] for message in requests[-1].messages] == ["user", "user", "assistant", "user"]


async def test_the_answer_of_a_child_run_is_what_its_parent_gets() -> None:
    turns = [turn_with_calls(("clerk", {"message": "Read this."})), {"text": "Booked."}]
    parent = Agent("parent", model="scripted", turns=turns, tools=[clerk(GOOD)])
    result = await run_agent(parent, "Book it.")
    assert result.tool_calls[0].output == VALUE


@pytest.mark.parametrize("answer", [int, list[str], {"type": "string"}, {"$ref": "#/$defs/x"}, 3, Invoice | None])
def test_an_answer_that_is_not_an_object_is_refused_when_the_agent_is_declared(answer: Any) -> None:
    with pytest.raises(Invalid):
        clerk(GOOD, answer=answer)


async def test_another_schema_is_another_version_of_the_agent() -> None:
    versions = {clerk(GOOD, answer=answer).version for answer in (Invoice, CheckedInvoice, None)}
    assert len(versions) == 3
    assert (await run_to_output(clerk("Plain text.", answer=None), FakeExecution())).outputs == {}


def failure(result: RunResult) -> tuple[str, str]:
    assert result.error is not None, result.text
    assert result.status == "error"
    return result.error.code, result.stop_reason
