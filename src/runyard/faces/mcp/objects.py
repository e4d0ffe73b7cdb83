"""The objects of MCP that this face sends. Pure."""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from runyard.domain.times import iso
from runyard.faces.mcp import files, forms, wire
from runyard.faces.mcp.state import State

Shown = dict[str, Any]
NO_FILES: Mapping[str, bytes] = {}
SERVER = {"name": "runyard", "title": "Runyard", "version": version("runyard")}
INSTRUCTIONS = "Each tool is an agent. Send it a message. To continue a conversation, send the same thread_id again."
POLL_MS = 1000
INPUT = {
    "type": "object",
    "properties": {
        "message": {"type": "string", "minLength": 1, "description": "What the agent shall do or answer."},
        "thread_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "A name of your choice for the conversation. The same name continues it.",
        },
        "files": {
            "type": "array",
            "maxItems": files.MOST,
            "items": {"type": "string"},
            "description": "Files for the agent: data URIs, or the addresses of resources of this server.",
        },
    },
    "required": ["message"],
    "additionalProperties": False,
}


def initialized(wanted: Any) -> Shown:
    """Return the answer to `initialize`: the revision of the client if it is known and has sessions."""
    chosen = wanted if wanted in wire.WITH_SESSIONS else wire.NEWEST_WITH_SESSIONS
    return {
        "protocolVersion": chosen,
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": SERVER,
        "instructions": INSTRUCTIONS,
    }


def discovered() -> Shown:
    return {
        **complete(),
        "supportedVersions": wire.SUPPORTED,
        "capabilities": {"tools": {}, "resources": {}, "extensions": {wire.TASKS: {}}},
        "instructions": INSTRUCTIONS,
        **CACHING,
    }


CACHING = {"ttlMs": 60_000, "cacheScope": "private"}


def complete(**more: Any) -> Shown:
    """Return a result of the stateless revision."""
    return {"resultType": "complete", "_meta": {wire.SERVER_KEY: SERVER}, **more}


def tools(agents: Iterable[tuple[str, str]]) -> list[Shown]:
    """Return the tools for agents and their descriptions."""
    return [
        {"name": name, "description": description or f"The agent {name}.", "inputSchema": INPUT}
        for name, description in agents
    ]


def text_result(text: str, *, is_error: bool = False, **more: Any) -> Shown:
    return {"content": [{"type": "text", "text": text}], "isError": is_error, **more}


def result(state: State, loaded: Mapping[str, bytes] = NO_FILES, *, links: bool = True) -> Shown:
    """Return the result of a run that has ended. `loaded` are the bytes of its files that the result holds; `links`:
    the client knows links to resources."""
    meta = _meta(state)
    if state.status == "canceled":
        return text_result("The run was canceled.", is_error=True, _meta=meta)
    if state.status == "error":
        reason = "The run failed." if state.error is None else f"{state.error.message} ({state.error.code})"
        return text_result(reason, is_error=True, _meta=meta)
    found = text_result(state.text or "", _meta=meta)
    if state.files and not state.text:
        found["content"] = []
    if state.sources:
        listed = "\n".join(f"- {source}" for source in state.sources)
        found["content"].append({"type": "text", "text": f"Sources:\n{listed}"})
    found["content"] += [files.block(file, loaded.get(file.id), links=links) for file in state.files]
    if state.outputs:
        found["structuredContent"] = state.outputs
    return found


def _meta(state: State) -> Shown:
    thread = state.echo.get("thread")
    return {"runyard/runId": state.run_id, **({} if thread is None else {"runyard/threadId": thread})}


def notice(state: State) -> Shown:
    """Return the result for a client that cannot be asked: what the run waits for, and how to answer."""
    lines = [f"The run {state.run_id} waits for an answer that this client cannot give:"]
    for wait_id, wait in state.open_waits.items():
        kind = "approvals" if wait.is_approval else "waits"
        verb = f"approve {wait_id}` or `runyard approvals reject" if wait.is_approval else "answer"
        lines.append(f"- {forms.question(wait)}")
        lines.append(f"  Answer with `runyard {kind} {verb} {wait_id}`, on the page, or by POST /api/{kind}/{wait_id}.")
    if (thread := state.echo.get("thread")) is not None:
        lines.append(f"The run continues then. Ask about it with a call that has the thread_id {thread}.")
    meta = {**_meta(state), "runyard/waits": list(state.open_waits)}
    return text_result("\n".join(lines), _meta=meta)


def input_requests(state: State) -> Shown:
    return {wait_id: forms.elicitation(wait) for wait_id, wait in state.open_waits.items()}


def input_required(state: State) -> Shown:
    """Return the result that asks a client of the stateless revision. `requestState` names the part that it ends."""
    return {
        "resultType": "input_required",
        "inputRequests": input_requests(state),
        "requestState": f"{state.run_id}.{state.part}",
        "_meta": {wire.SERVER_KEY: SERVER, **_meta(state)},
    }


def stateless_result(found: Shown) -> Shown:
    """Return a result in the form of the stateless revision."""
    return {**found, "resultType": "complete", "_meta": {wire.SERVER_KEY: SERVER, **found.get("_meta", {})}}


def task(state: State, created_at: int, asks: bool, loaded: Mapping[str, bytes] = NO_FILES) -> Shown:
    """Return a run as a task. `asks`: the client can show forms."""
    found: Shown = {
        "taskId": state.run_id,
        "status": "working",
        "createdAt": iso(created_at),
        "lastUpdatedAt": iso(max(created_at, state.updated_at)),
        "ttlMs": None,
        "pollIntervalMs": POLL_MS,
    }
    if state.status == "canceled":
        found["status"] = "cancelled"
    elif state.status is not None:
        found |= {"status": "completed", "result": result(state, loaded)}
    elif state.open_waits:
        if asks:
            found |= {"status": "input_required", "inputRequests": input_requests(state)}
        else:
            found["statusMessage"] = notice(state)["content"][0]["text"]
    return found


def progress(token: str | int, number: int, message: str) -> Shown:
    params = {"progressToken": token, "progress": number, "message": message}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def reply(request_id: str | int, found: Mapping[str, Any]) -> Shown:
    return {"jsonrpc": "2.0", "id": request_id, "result": found}


def ask(wait_id: str, request: Shown) -> Shown:
    """Return a request of the server to the client. Its id is that of the wait, so the answer finds it."""
    return {"jsonrpc": "2.0", "id": wait_id, **request}
