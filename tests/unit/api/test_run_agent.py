"""`runyard.testing.run_agent` runs agents of every local kind as a server does, without one."""

from pathlib import Path
from typing import Any

import pytest

import runyard
from runyard.errors import Invalid
from runyard.testing import AskedApproval, Decision, MemoryStore, UndecidedApproval, run_agent, run_agent_sync


@runyard.tool(approval="always")
async def refund(order: str, amount: int = 1) -> str:
    await runyard.stream_output("asking the bank ")
    return f"refunded {amount} for {order}"


@runyard.agent(tools=[refund])
async def support(ctx: runyard.Context) -> str:
    if not await ctx.request_approval("Is it urgent?", order=ctx.message.text):
        return "later"
    try:
        return await ctx.call(refund, order=ctx.message.text)
    except runyard.Rejected as error:
        return f"rejected: {error.reason}"


async def test_a_python_agent_gets_its_message_and_its_decisions() -> None:
    result = await run_agent(support, "A-17", decisions={"Is it urgent?": True, "refund": True})

    assert (result.status, result.text, result.error) == ("done", "refunded 1 for A-17", None)
    [call] = result.tool_calls
    assert (call.tool, call.input, call.output) == ("refund", {"order": "A-17"}, "refunded 1 for A-17")
    assert call.streamed == "asking the bank "
    assert [(asked.kind, asked.name, asked.decision) for asked in result.approvals] == [
        ("question", "Is it urgent?", "approved"),
        ("tool", "refund", "approved"),
    ]
    assert [event.seq for event in result.events] == list(range(1, len(result.events) + 1))
    assert result.events[-1].type == "run.finished"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Decision(True, input={"order": "B-1", "amount": 3}), "refunded 3 for B-1"),
        (Decision(False, reason="too late"), "rejected: too late"),
        (False, "rejected: None"),
    ],
)
async def test_a_decision_may_edit_the_input_or_give_a_reason(answer: bool | Decision, text: str) -> None:
    def decide(asked: AskedApproval) -> bool | Decision:
        return True if asked.kind == "question" else answer

    assert (await run_agent(support, "A-17", decisions=decide)).text == text


async def test_an_approval_without_a_decision_is_an_error_that_names_it() -> None:
    with pytest.raises(UndecidedApproval, match=r"decisions=\{'refund': True\}"):
        await run_agent(support, "A-17", decisions={"Is it urgent?": True})


async def test_a_failed_run_is_a_result_with_its_error() -> None:
    @runyard.agent
    async def fails(ctx: runyard.Context) -> None:
        await ctx.token("so far ")
        raise ValueError("a secret")

    result = await run_agent(fails, "hello")

    assert result.status == "error"
    assert result.error is not None
    assert result.error.message == "The agent failed with ValueError."
    assert result.error.traceback is not None
    assert "raise ValueError" in result.error.traceback


async def test_the_history_is_what_was_said_before() -> None:
    @runyard.agent
    async def remembers(ctx: runyard.Context) -> str:
        return " ".join(f"{message.role}:{message.text}" for message in await ctx.history())

    result = await run_agent(remembers, "now", history=[("one", "two"), ("three", "four")])

    assert result.text == "user:one assistant:two user:three assistant:four"


async def test_a_model_agent_plays_turns_and_asks_no_provider() -> None:
    clerk = runyard.Agent("clerk", model="openai/gpt-5-mini", tools=[refund])
    turns: list[dict[str, Any]] = [{"calls": [{"tool": "refund", "input": {"order": "A-17"}}]}, {"text": "All done."}]

    result = await run_agent(clerk, "Refund A-17", turns=turns, decisions={"refund": True})

    assert result.text == "All done."
    assert [call.output for call in result.tool_calls] == ["refunded 1 for A-17"]
    with pytest.raises(Invalid, match="would ask openai/gpt-5-mini"):
        await run_agent(clerk, "Refund A-17")


async def test_a_model_agent_reads_the_history() -> None:
    clerk = runyard.Agent("clerk", model="scripted", turns=lambda said: {"text": "|".join(m["content"] for m in said)})

    assert (await run_agent(clerk, "now", history=[("one", "two")])).text == "one|two|now"


async def test_a_plan_gets_its_inputs_and_returns_the_results_of_its_nodes() -> None:
    async def double(ctx: runyard.NodeContext) -> int:
        return int(ctx.inputs["n"]) * 2

    async def square(ctx: runyard.NodeContext) -> int:
        return int(ctx.results["Double"]) ** 2

    numbers = runyard.plan("numbers", [runyard.Node("Double", double), runyard.Node("Square", square)])

    result = await run_agent(numbers, inputs={"n": 3})
    assert [(step.name, step.result) for step in result.steps] == [("Double", 6), ("Square", 36)]


async def test_documents_are_found_and_the_store_keeps_the_run() -> None:
    @runyard.agent
    async def librarian(ctx: runyard.Context) -> runyard.Output:
        return runyard.Output("found", sources=[hit.id for hit in await ctx.search("books", "tea")])

    books = runyard.Documents("books", [{"id": "b1", "title": "Tea", "text": "All about tea."}])
    store = MemoryStore()
    result = await run_agent(librarian, "tea", documents=[books], store=store)

    assert list(result.sources) == ["b1"]
    assert (await store.get_run("local", result.events[0].run_id)).status.value == "done"


def test_without_an_event_loop_there_is_a_plain_function() -> None:
    assert run_agent_sync(runyard.scripted("demo", [{"token": "Hello"}])).text == "Hello"


@pytest.mark.parametrize(
    "remote",
    [
        runyard.remote("far", url="https://far.example.org", task_type="T"),
        runyard.claude("clerk", model="claude-sonnet-5"),
    ],
    ids=lambda one: str(one.kind),
)
async def test_an_agent_that_needs_a_network_is_refused(remote: runyard.Agent) -> None:
    with pytest.raises(Invalid, match="need a network"):
        await run_agent(remote, "hello")


async def test_a_run_that_takes_too_long_is_a_timeout() -> None:
    @runyard.agent
    async def waits(ctx: runyard.Context) -> None:
        import asyncio

        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await run_agent(waits, "hello", max_seconds=0.2)


def test_settings_of_the_environment_do_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUNYARD_DATABASE_URL", "postgresql://nowhere/none")
    monkeypatch.setenv("RUNYARD_MAX_MESSAGE_CHARS", "1")
    monkeypatch.chdir(tmp_path)

    @runyard.agent
    async def echo(ctx: runyard.Context) -> str:
        return ctx.message.text

    assert run_agent_sync(echo, "hello").text == "hello"
    assert list(tmp_path.iterdir()) == []
