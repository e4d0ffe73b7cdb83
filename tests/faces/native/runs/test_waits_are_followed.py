"""Waits name their agent and question, and a stream reports changes of the open waits."""

from typing import Any

import pytest

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from tests.support.in_process.live_server import Serve
from tests.support.in_process.raw_stream import RawStream


@runyard.tool(approval="always", effects="once")
async def pay(to: str, amount: int, note: str = "") -> str:
    return f"{amount} to {to}"


@runyard.agent(tools=[pay])
async def payer(ctx: Context) -> Any:
    return await ctx.call(pay, note="thanks", amount=7, to=ctx.message.text)


CALL = {"calls": [{"tool": "pay", "input": {"note": "thanks", "amount": 7, "to": "Ada"}}]}
model_payer = Agent("payer", model="scripted", turns=[CALL, {"text": "paid"}], tools=[pay])


@pytest.mark.parametrize("agent", [payer, model_payer], ids=["python", "model"])
async def test_the_log_has_inputs_in_the_order_of_the_tool(serve: Serve, agent: Agent) -> None:
    server = await serve(App({"payer": agent}, {}, "payer"))
    run_id = await server.post("payer", "Ada")
    asked = await server.waiting(run_id)
    await server.http.post(f"/api/approvals/{asked}", json={"decision": "approve"})
    types = ("tool.requested", "approval.requested", "tool.started")
    inputs = [event["data"]["input"] for event in await server.log(run_id) if event["type"] in types]
    assert [list(given.items()) for given in inputs] == [[("to", "Ada"), ("amount", 7), ("note", "thanks")]] * 3


def frames_without_comments(stream: RawStream) -> list[bytes]:
    """All frames of a stream without its comments. They have no id."""
    return [block for block in stream.blocks if block.startswith(b"event:")]


async def test_a_wait_names_its_agent_and_question_and_its_input_is_in_the_order_of_the_tool(serve: Serve) -> None:
    server = await serve(App({"payer": payer}, {}, "payer"), keys=True, heartbeat_seconds=0.1)
    ann, bob = [{"X-API-Key": await server.key(name, "read", "write", "approve")} for name in ("ann", "bob")]
    changes, others = await server.stream("/api/waits/changes", ann), await server.stream("/api/waits/changes", bob)
    await changes.until(lambda: len(frames_without_comments(changes)) == 1)
    await others.until(lambda: len(frames_without_comments(others)) == 1)
    thread = (await server.http.post("/api/threads", json={"agent": "payer"}, headers=ann)).json()["thread_id"]
    await server.http.post(f"/api/threads/{thread}/messages", json={"content": "Ada"}, headers=ann)
    await changes.until(lambda: len(frames_without_comments(changes)) == 2)
    [row] = (await server.http.get("/api/waits", headers=ann)).json()["waits"]
    assert (row["agent"], row["question"]) == ("payer", "Ada")
    [approval] = (await server.http.get("/api/approvals", headers=ann)).json()["approvals"]
    for shown in (row, approval):
        assert list(shown["input"].items()) == [("to", "Ada"), ("amount", 7), ("note", "thanks")]
    decided = await server.http.post(f"/api/approvals/{row['wait_id']}", json={"decision": "approve"}, headers=ann)
    assert decided.status_code == 200
    await changes.until(lambda: len(frames_without_comments(changes)) == 3)
    assert frames_without_comments(changes) == [b'event: waits\ndata: {"open":%d}' % count for count in (0, 1, 0)]
    await others.pings(2)
    assert frames_without_comments(others) == frames_without_comments(changes)[:1], "another owner is told nothing"
    await changes.close()
    await others.close()
