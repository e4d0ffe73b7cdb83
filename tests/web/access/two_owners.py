"""Ann's objects, with a marker in all their content, and Bob, who has some objects too."""

from asyncio import gather
from collections.abc import Mapping
from typing import Any

import httpx2

from runyard.agents.context.context import Context
from runyard.agents.declared.kinds import agent, plan
from runyard.agents.declared.loading import App
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.domain.api_key import DEFAULT_SCOPES
from tests.support.in_process.live_server import Server
from tests.support.in_process.raw_stream import RawStream
from tests.web.access.every_route import ENDLESS

MARKER = "heliotrope"
ONCE = {"Idempotency-Key": "once"}
TASK = {"request_id": "req-1", "task_type": "clerk", "inputs": {"query": MARKER}}


def app() -> App:
    async def clerk(ctx: Context) -> str:
        """Repeats the message, after an approval if the message asks for one."""
        text = str(ctx.inputs.get("query")) if ctx.task is not None else ctx.message.text
        if text.startswith("book"):
            await gather(ctx.ask(f"Which seat? {text}", {"type": "object"}), ctx.wait_for("order.paid", key="A-1"))
        if text.startswith("ask") and not await ctx.request_approval(f"May I {text}?", what=text):
            return "no"
        return text

    async def step(ctx: NodeContext) -> dict[str, Any]:
        return {"done": True}

    agents = [agent(name="clerk")(clerk), plan("device", [Node("Ping", step)])]
    return App({each.name: each for each in agents}, {}, "clerk")


class Person:
    """An owner, with a key of the default scopes."""

    def __init__(self, server: Server, key: str) -> None:
        self.server = server
        self.headers = {"Authorization": f"Bearer {key}"}

    @classmethod
    async def called(cls, server: Server, name: str) -> "Person":
        return cls(server, await server.key(name, *DEFAULT_SCOPES))

    async def ask(self, method: str, path: str, *, headers: Mapping[str, str] = {}, **more: Any) -> httpx2.Response:
        """Read only the beginning of a stream that does not end."""
        sent = {**self.headers, **headers}
        request = self.server.http.build_request(method, path, headers=sent, **more)
        answer = await self.server.http.send(request, stream=True)
        if path not in ENDLESS or answer.status_code != 200:
            await answer.aread()
        await answer.aclose()
        return answer

    async def make(self, path: str, body: Any = None, key: str = "id", **more: Any) -> str:
        answer = await self.ask("POST", path, json=body, **more)
        assert answer.status_code in (200, 201), (path, answer.text)
        return str(answer.json()[key])

    async def until(self, path: str, event: str, **headers: str) -> RawStream:
        stream = await self.server.stream(path, {**self.headers, **headers})
        await stream.frames_to(event)
        await stream.close()
        return stream


async def move_in(ann: Person) -> dict[str, str]:
    """Ann uses every feature once. Returns the ids of her objects, by their names in the table."""
    ids: dict[str, str] = {"chat": "my-chat", "plan": "my-plan", "agent": "anns-agent", "label": "notes"}
    ids["thread"] = await ann.make("/api/threads", {"user_id": MARKER}, "thread_id", headers=ONCE)
    said = {"content": MARKER}
    ids["run"] = await ann.make(f"/api/threads/{ids['thread']}/messages", said, "run_id", headers=ONCE)
    await ann.until(f"/api/runs/{ids['run']}/log", "run.finished")
    judged = await ann.ask("PUT", f"/api/runs/{ids['run']}/feedback", json={"value": "down", "comment": MARKER})
    assert judged.json()["feedback"]["comment"] == MARKER
    ids["share"] = await ann.make(f"/api/threads/{ids['thread']}/shares", {"days": 2}, "share_id")
    asking = await ann.make("/api/threads", {}, "thread_id")
    ids["asking"] = await ann.make(f"/api/threads/{asking}/messages", {"content": f"ask {MARKER}"}, "run_id")
    waits = await ann.until(f"/api/runs/{ids['asking']}/log", "run.waiting")
    ids["approval"] = str(waits.frames[-1].json["data"]["waits"][0])
    booking = await ann.make("/api/threads", {}, "thread_id")
    ids["booking"] = await ann.make(f"/api/threads/{booking}/messages", {"content": f"book {MARKER}"}, "run_id")
    await ann.until(f"/api/runs/{ids['booking']}/log", "run.waiting")
    [asked] = (await ann.ask("GET", f"/api/waits?run_id={ids['booking']}")).json()["waits"]
    ids["wait"] = asked["wait_id"]
    sent = {"id": "anns-event", "name": "order.paid", "key": "A-2", "data": MARKER}
    assert (await ann.ask("POST", "/api/events", json=sent)).json() == {"delivered": True}
    for name, text, until in (
        ("done", MARKER, "interaction_complete"),
        ("waits", f"ask {MARKER}", "approval_required"),
    ):
        path, body = f"/chats/{ids['chat']}/interactions", {"user_message": text}
        stream = await RawStream.open(ann.server.port, path, ann.headers, body=body)
        await stream.frames_to(until)
        ids[name] = str(stream.frames[0].json["interaction_id"])
        ids["chat_approval"] = str(stream.frames[-1].json.get("approval_id"))
        await stream.close()
    await ann.make("/agents/runs", {"runId": ids["plan"], "plan": "device"}, "runId", headers=ONCE)
    stream = await ann.server.whole_stream(f"/agents/runs/{ids['plan']}/stream", ann.headers)
    assert stream.ended_cleanly
    answer = await ann.ask("POST", "/agents/run/sync", json=TASK, headers=ONCE)
    assert MARKER in answer.text
    ids["task"] = (await ann.ask("GET", "/api/runs")).json()["runs"][0]["run_id"]
    kind = {"Content-Type": "text/plain"}
    made = await ann.ask("POST", f"/api/files?name={MARKER}", content=MARKER, headers=kind)
    ids["file"] = made.json()["file_id"]
    ids["file address"] = f"/api/files/{ids['file']}"
    ids["response"] = await ann.make("/v1/responses", {"input": MARKER}, headers=ONCE)
    ids["conversation"] = await ann.make("/v1/conversations", {})
    await ann.make("/v1/responses", {"input": MARKER, "conversation": ids["conversation"]})
    ids["ui chat"] = "my-ui-chat"
    question: dict[str, Any] = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": MARKER}]}
    answer = await ann.ask("POST", "/api/ai/clerk", json={"id": ids["ui chat"], "messages": [question]})
    assert answer.status_code == 200, answer.text
    params = {"name": "clerk", "arguments": {"message": MARKER}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = await ann.ask("POST", "/mcp", json=call, headers={"Accept": "text/event-stream"})
    assert MARKER in answer.text
    ids["mcp event"] = f"{answer.headers['runyard-run-id']}.0"
    return {**ids, **await _talk(ann, ids["agent"], ids["label"])}


async def _talk(ann: Person, agent: str, label: str) -> dict[str, str]:
    """A private channel, a DM, an agent of Ann and a declared agent, with a memory."""
    ids: dict[str, str] = {}
    await ann.make("/api/agents", {"id": agent, "modelId": "fake/model", "systemPrompt": MARKER})
    channel = {"name": MARKER, "kind": "private", "topic": MARKER, "agents": ["clerk", agent]}
    ids["channel"] = await ann.make("/api/channels", channel, headers=ONCE)
    ids["dm"] = await ann.make("/api/dms", {"agentId": "clerk"})
    said = {"dmConversationId": ids["dm"], "text": MARKER}
    ids["message"] = await ann.make("/api/messages", said, headers=ONCE)
    stream = await ann.until("/api/sse", "agent_done", **{"last-event-id": "0"})
    ids["letter"] = str(stream.frames[-1].json["runId"])
    await ann.make(f"/api/messages/{ids['message']}/reactions", {"emoji": "ok"}, "success")
    for who in ("clerk", agent):
        block = await ann.ask("PUT", f"/api/agents/{who}/memory/{label}", json={"content": MARKER, "isShared": True})
        assert block.status_code == 200, block.text
        ids[f"passage of {who}"] = await ann.make(f"/api/agents/{who}/passages", {"content": MARKER})
    linked = await ann.ask("PUT", f"/api/agents/{agent}/memory/{label}/readers/clerk")
    assert linked.status_code == 204, linked.text
    return ids


async def belongings(ann: Person, ids: Mapping[str, str]) -> dict[str, Any]:
    """All that Ann sees, to be compared before and after."""
    agents = [f"/api/agents/{who}" for who in ("clerk", ids["agent"])]
    paths = [
        "/api/threads", "/api/runs", "/api/approvals", "/api/waits", "/api/channels", "/api/dms", "/api/agents",
        f"/api/search?query={MARKER}", f"/api/threads/{ids['thread']}/export",
        f"/api/threads/{ids['thread']}/shares", f"/api/runs/{ids['run']}/feedback",
        "/chats", f"/v1/responses/{ids['response']}", f"/v1/responses/{ids['response']}/input_items",
        f"/api/threads/{ids['thread']}", f"/chats/{ids['chat']}", f"/agents/runs/{ids['plan']}",
        f"/api/channels/{ids['channel']}", f"/api/dms/{ids['dm']}", f"/api/messages/{ids['message']}",
        "/api/unread", f"/api/channels/{ids['channel']}/runs", f"/api/dms/{ids['dm']}/runs",
        f"/api/messages?channelId={ids['channel']}", f"/api/messages?dmConversationId={ids['dm']}",
        *(f"/api/runs/{ids[run]}/state" for run in ("run", "asking", "booking", "task", "letter")),
        *(f"{agent}{part}" for agent in agents for part in ("", "/memory", "/passages", "/prompt", "/runs", "/usage")),
    ]  # fmt: skip
    seen = {path: await ann.ask("GET", path) for path in paths}
    assert {path for path, answer in seen.items() if answer.status_code != 200} == set()
    return {path: answer.json() for path, answer in seen.items()}
