"""Waits name their agent and question, and a stream reports changes of the open waits."""

from typing import Any

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.loading import App
from tests.faces.live_server import Serve
from tests.faces.raw_stream import RawStream


@runyard.tool(approval="always", effects="once")
async def pay(to: str, amount: int, note: str = "") -> str:
    return f"{amount} to {to}"


@runyard.agent(tools=[pay])
async def payer(ctx: Context) -> Any:
    return await ctx.call(pay, note="thanks", amount=7, to=ctx.message.text)


def told(stream: RawStream) -> list[bytes]:
    """All frames of a stream without its comments. They have no id."""
    return [block for block in stream.blocks if block.startswith(b"event:")]


async def test_a_wait_names_its_agent_and_question_and_its_input_is_in_the_order_of_the_tool(serve: Serve) -> None:
    server = await serve(App({"payer": payer}, {}, "payer"), keys=True)
    ann, bob = [{"X-API-Key": await server.key(name, "read", "write", "approve")} for name in ("ann", "bob")]
    changes, others = await server.stream("/api/waits/changes", ann), await server.stream("/api/waits/changes", bob)
    await changes.until(lambda: len(told(changes)) == 1)
    await others.until(lambda: len(told(others)) == 1)
    thread = (await server.http.post("/api/threads", json={"agent": "payer"}, headers=ann)).json()["thread_id"]
    await server.http.post(f"/api/threads/{thread}/messages", json={"content": "Ada"}, headers=ann)
    await changes.until(lambda: len(told(changes)) == 2)
    [row] = (await server.http.get("/api/waits", headers=ann)).json()["waits"]
    assert (row["agent"], row["question"]) == ("payer", "Ada")
    assert list(row["input"].items()) == [("to", "Ada"), ("amount", 7), ("note", "thanks")]
    decided = await server.http.post(f"/api/approvals/{row['wait_id']}", json={"decision": "approve"}, headers=ann)
    assert decided.status_code == 200
    await changes.until(lambda: len(told(changes)) == 3)
    assert told(changes) == [b'event: waits\ndata: {"open":%d}' % count for count in (0, 1, 0)]
    await others.pings(2)
    assert told(others) == told(changes)[:1], "another owner is told nothing"
    await changes.close()
    await others.close()
