"""A run continues with the redacted text, and exactly the same after a crash."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.kinds import agent, plan, scripted
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.agents.kinds.runners import RUNNERS
from runyard.agents.tools.tool import tool
from runyard.agents.user_code.current_call import set_current_execution, stream_output
from runyard.domain.events import ModelMessage, ModelToken
from runyard.domain.redaction.redacted import redacted
from runyard.domain.redaction.redactor import Redactor
from tests.agents.fake_execution import FakeExecution

MAIL = "ann@example.com"
REDACTOR = Redactor(["email", "api_key"])
SEEN: list[Any] = []


@tool(effects="none")
async def look(what: str) -> dict[str, str]:
    SEEN.append(what)
    return {"for": what, "found": MAIL}


@tool(effects="none")
async def write(ctx: Context, what: str) -> str:
    await ctx.token(f"[writing to {MAIL[:6]}")
    await ctx.token(f"{MAIL[6:]}]")
    await stream_output(f"to {MAIL[:5]}")
    await stream_output(MAIL[5:])
    return what


@agent(tools=[look, write])
async def talker(ctx: Context) -> Output:
    await ctx.token("I am ")
    for piece in MAIL:
        await ctx.token(piece)
    noted = await ctx.step("note", lambda: {"mail": MAIL})
    SEEN.append(noted)
    await ctx.thinking(f"so {MAIL}")
    found = await ctx.call("look", what=MAIL)
    SEEN.append(found)
    await ctx.token(f", {MAIL[:7]}")
    await ctx.token(f"{MAIL[7:]} it is.")
    await ctx.call("write", what=MAIL)
    return Output(outputs={"to": MAIL})


TURNS: list[dict[str, Any]] = [
    {
        "thinking": f"hm {MAIL}",
        "text": ["To ", MAIL[:4], MAIL[4:]],
        "calls": [{"tool": "look", "input": {"what": MAIL}}],
    },
    {"text": [f"It is {MAIL[:9]}", MAIL[9:]]},
]
thinker = Agent("thinker", model="scripted", turns=TURNS, tools=[look])
player = scripted(
    "scripted",
    [
        {"tokens": ["Mail ", *MAIL, " now"]},
        {"tool": "t", "input": {"to": MAIL}, "output": MAIL},
        {"thinking": MAIL},
        {"tokens": [MAIL[:3], MAIL[3:]]},
    ],
)


async def ran(kind: Agent, execution: FakeExecution) -> Output | None:
    with set_current_execution(execution, Path()):
        return await RUNNERS[kind.kind](kind, execution)


def no_mail(execution: FakeExecution) -> None:
    events = [*execution.log, *execution.lost]
    assert not any(MAIL.encode() in event.data for event in events)
    for kind, field in (("model.token", "text"), ("model.thinking", "text"), ("tool.output", "text")):
        whole = "".join(getattr(event.payload, field) for event in events if event.type == kind)
        assert MAIL not in whole, kind


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("kind", [talker, thinker, player], ids=lambda one: str(one.name))
async def test_nothing_sensitive_is_written_and_the_pieces_are_the_whole(kind: Agent) -> None:
    SEEN.clear()
    execution = FakeExecution(redactor=REDACTOR)
    output = await ran(kind, execution)
    await execution.commit()
    no_mail(execution)
    tokens = "".join(event.payload.text for event in execution.log if isinstance(event.payload, ModelToken))
    assert output is not None
    assert tokens == output.text
    assert "[email]" in tokens
    assert MAIL not in str(SEEN)
    said = [event.payload.message for event in execution.log if isinstance(event.payload, ModelMessage)]
    assert MAIL not in str(said)
    if kind is talker:
        assert "tool.output" in execution.types()
    if kind is thinker:
        assert tokens == "To [email]\n\nIt is [email]"
        assert [message["content"] for message in said] == ["To [email]", "It is [email]"]
        assert said[0]["tool_calls"][0]["function"]["arguments"] == '{"what":"[email]"}'


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("kind", [talker, thinker, player], ids=lambda one: str(one.name))
async def test_resumed_after_any_event_it_ends_the_same(kind: Agent) -> None:
    whole = FakeExecution(redactor=REDACTOR)
    wanted = await ran(kind, whole)
    await whole.commit()
    assert wanted is not None
    for cut in range(1, len(whole.log)):
        resumed = FakeExecution(whole.log[:cut], redactor=REDACTOR)
        output = await ran(kind, resumed)
        await resumed.commit()
        assert output is not None
        assert output.text == wanted.text, cut
        no_mail(resumed)


@pytest.mark.req("S1.48")
async def test_a_plan_passes_on_the_stored_results() -> None:
    async def first(ctx: NodeContext) -> Any:
        return {"mail": MAIL}

    async def second(ctx: NodeContext) -> Any:
        SEEN.append(ctx.results["first"])

    SEEN.clear()
    execution = FakeExecution(redactor=REDACTOR)
    agent_ = plan("p", [Node("first", first), Node("second", second)])
    await RUNNERS["plan"](agent_, execution)
    assert SEEN == [{"mail": "[email]"}]
    no_mail(execution)


@pytest.mark.req("S1.48")
async def test_a_concurrent_call_does_not_cut_the_text_of_another_task() -> None:
    @agent
    async def busy(ctx: Context) -> None:
        half = asyncio.Event()

        async def talk() -> None:
            await ctx.token(MAIL[:6])
            half.set()
            await noted.wait()
            await ctx.token(MAIL[6:])

        async def note() -> None:
            await half.wait()
            await ctx.step("note", lambda: 1)
            noted.set()

        noted = asyncio.Event()
        await asyncio.gather(talk(), note())

    execution = FakeExecution(redactor=REDACTOR)
    output = await RUNNERS["python"](busy, execution)
    assert output is not None
    assert output.text == "[email]"
    no_mail(execution)


def test_ids_and_signatures_that_a_provider_needs_are_not_redacted() -> None:
    key = "sk-ant-abcdefghijklmnopqrstuvwxyz0123"
    calls = [{"id": key, "type": "function", "function": {"name": "look", "arguments": '{"what":"x"}'}}]
    blocks = [{"type": "thinking", "thinking": "plain", "signature": key}]
    said = {"role": "assistant", "content": MAIL, "tool_calls": calls, "thinking_blocks": blocks}
    stored = redacted(ModelMessage("s", said), REDACTOR).message
    assert stored == {**said, "content": "[email]"}
    secret = [{"type": "thinking", "thinking": MAIL, "signature": key}]
    stored = redacted(ModelMessage("s", {**said, "thinking_blocks": secret}), REDACTOR).message
    assert "thinking_blocks" not in stored  # the provider would reject a signature on other text
