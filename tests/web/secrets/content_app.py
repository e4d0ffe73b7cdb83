"""An app that writes one text into every place for content, and a client that makes it do so."""

from typing import Any

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from runyard.agents.tools.tool import tool
from runyard.agents.user_code.current_call import stream_output
from runyard.errors import AgentError, ToolError
from tests.support.in_process.live_server import Server
from tests.support.in_process.raw_stream import RawStream


def content_app(text: str) -> App:
    """Return an app with four agents: `thinker` (a scripted model) and `talker` (Python) write the text in every way
    they have, `failer` fails with it, and `clerk` reads it in a channel and stores it."""

    @tool
    async def look(what: str) -> dict[str, Any]:
        await stream_output(f"looking for {text}")
        return {"found": [what, text]}

    @tool
    async def stumble(what: str) -> str:
        raise ToolError(f"cannot {text}")

    @tool(approval="always", effects="once")
    async def act(what: str) -> str:
        return f"did {what} with {text}"

    turns: list[dict[str, Any]] = [
        {"thinking": f"hm {text}", "text": f"I look {text}", "calls": [{"tool": "look", "input": {"what": text}}]},
        {"calls": [{"tool": "stumble", "input": {"what": text}}, {"tool": "act", "input": {"what": text}}]},
        {"text": ["It is ", text[:5], text[5:], "."]},
    ]
    thinker = Agent("thinker", model="scripted", turns=turns, tools=[look, stumble, act])

    @agent(tools=[look, act])
    async def talker(ctx: Context) -> Output:
        await ctx.token(f"well, {text}")
        await ctx.thinking(text)
        await ctx.step("note", lambda: {"noted": text})
        await ctx.call("look", what=text)
        await ctx.request_approval("May I?", about=text)
        return Output(f"the end of {text}", sources=[text], outputs={"kept": text})

    @agent
    async def failer(ctx: Context) -> str:
        raise AgentError(f"it broke over {text}")

    kept = {"tool": "store_memory", "input": {"content": text, "tags": [text]}}
    clerk_turns: list[dict[str, Any]] = [{"text": f"hm {text}", "calls": [kept]}, {"calls": [{"tool": "do_nothing"}]}]
    clerk = Agent("clerk", model="scripted", turns=clerk_turns)

    declared = [thinker, talker, failer, clerk]
    return App({one.name: one for one in declared}, {}, "thinker")


async def write_everywhere(server: Server, text: str, in_file: str | None = None) -> list[str]:
    """Run every agent to its end, and return the ids of the runs. `in_file`: the text of a file, if it differs."""
    headers = {"Idempotency-Key": "once"}
    body = {"user_message": f"do {text}"}
    stream = await RawStream.open(server.port, "/chats/c1/interactions", headers, body=body)
    await stream.frames_to("approval_required")
    await _approve(server, text, input={"what": f"edited {text}"})
    await stream.to_end()
    talked = await _tell_with_a_file(server, text, in_file or text)
    await server.waiting(talked)
    await _approve(server, text)
    await server.ended(talked)
    judged = await server.http.put(f"/api/runs/{talked}/feedback", json={"value": "up", "comment": f"good {text}"})
    assert judged.status_code == 200, judged.text
    await server.ended(await server.post("failer", f"fail {text}"))
    await _write_in_channels(server, text)
    return [run["run_id"] for run in (await server.http.get("/api/runs")).json()["runs"]]


async def _tell_with_a_file(server: Server, text: str, in_file: str) -> str:
    kind = {"Content-Type": "text/plain"}
    file = await server.http.post("/api/files", params={"name": text}, content=f"read {in_file}".encode(), headers=kind)
    parts = [{"type": "text", "text": f"tell {text}"}, {"type": "file", "file_id": file.json()["file_id"]}]
    body = {"parts": parts, "agent": "talker"}
    thread = await server.thread()
    answer = await server.http.post(f"/api/threads/{thread}/messages", json=body)
    assert answer.status_code == 201, answer.text
    assert (await server.http.patch(f"/api/threads/{thread}", json={"title": f"about {text}"})).status_code == 200
    return str(answer.json()["run_id"])


async def _write_in_channels(server: Server, text: str) -> None:
    """Write the text into a channel, change a message, and write it into an agent's memory."""
    http = server.http
    channel = (await http.post("/api/channels", json={"name": "general", "agents": ["clerk"]})).json()["id"]
    said = (await http.post("/api/messages", json={"channelId": channel, "text": f"all hear {text}"})).json()
    assert text in said["text"] or "[" in said["text"]
    [run] = (await http.get("/api/agents/clerk/runs")).json()["runs"]
    await server.ended(run["id"])
    await http.patch(f"/api/messages/{said['id']}", json={"text": f"all read {text}"})
    for _ in range(2):  # the second takes the place of the first
        assert (await http.put("/api/agents/talker/memory/notes", json={"content": f"mind {text}"})).is_success
    kept = await http.post("/api/agents/talker/passages", json={"content": f"once {text}", "tags": [text, "old"]})
    assert kept.status_code == 201, kept.text


async def channel_views(server: Server) -> list[Any]:
    """Return everything that a client sees of the channel and the memory."""
    http = server.http
    channels = (await http.get("/api/channels")).json()["channels"]
    if not channels:
        return []
    [channel], [run] = channels, (await http.get("/api/agents/clerk/runs")).json()["runs"]
    paths = (
        f"/api/agents/clerk/runs/{run['id']}",
        "/api/agents/clerk/passages",
        f"/api/messages?channelId={channel['id']}",
        "/api/agents/talker/memory",
        "/api/agents/talker/passages",
        f"/api/agents/talker/prompt?channelId={channel['id']}",
    )
    feed = await server.store.read_feed("local", 0, 10)
    return [*[(await http.get(path)).json() for path in paths], [entry.message for entry in feed.entries]]


async def _approve(server: Server, text: str, **more: Any) -> None:
    [approval] = (await server.http.get("/api/approvals")).json()["approvals"]
    body = {"decision": "approve", "reason": f"because {text}", **more}
    decided = await server.http.post(f"/api/approvals/{approval['approval_id']}", json=body)
    assert decided.status_code == 200, decided.text
    event = {"id": f"event-{approval['approval_id']}", "name": "order.paid", "data": {"by": text}}
    assert (await server.http.post("/api/events", json=event)).status_code == 202
