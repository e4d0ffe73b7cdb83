"""An answer over each face to what a run waits for. Every text in an answer carries the sensitive one."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from uuid import uuid4

from tests.web.secrets.ways_in import A2A_MESSAGE, EDITED, SAID

KINDS = ("question", "client_tool", "tool")
STATELESS = "2026-07-28"
META = "io.modelcontextprotocol/"


class Open(NamedTuple):
    """A wait of a run, and the client's id of the thread."""

    agent: str
    thread: str
    run_id: str
    wait_id: str
    kind: str

    @property
    def value(self) -> Any:
        """The answer to a question of `books`, a result of its tool, or a decision with another input."""
        return {"question": {"row": 1, "why": SAID}, "client_tool": {"at": SAID}}.get(self.kind)


Request = tuple[str, dict[str, Any]]  # a path and a body


def ai_sdk(wait: Open) -> Request:
    call: dict[str, Any] = {"type": "dynamic-tool", "toolCallId": wait.wait_id, "toolName": "x"}
    approval = {"id": wait.wait_id, "approved": False, "reason": SAID}
    if wait.kind == "tool":
        call |= {"state": "approval-responded", "approval": approval}
    elif wait.kind == "client_tool":
        call |= {"state": "output-error", "errorText": SAID}
    else:
        call |= {"state": "output-available", "output": wait.value}
    message = {"id": wait.run_id, "role": "assistant", "parts": [call]}
    return f"/api/ai/{wait.agent}", {"id": wait.thread, "messages": [message], "trigger": "submit-message"}


def ag_ui(wait: Open) -> Request:
    body: dict[str, Any] = {"threadId": wait.thread, "runId": str(uuid4()), "messages": []}
    if wait.kind == "client_tool":
        body["messages"] = [{"id": "t1", "role": "tool", "toolCallId": wait.wait_id, "content": SAID}]
    else:
        payload = {"approved": True, "editedArgs": EDITED} if wait.kind == "tool" else wait.value
        body["resume"] = [{"interruptId": wait.wait_id, "status": "resolved", "payload": payload}]
    return f"/api/ag-ui/{wait.agent}", body


def langgraph(wait: Open) -> Request:
    resume = {"type": "edit", "args": {"args": EDITED}} if wait.kind == "tool" else wait.value
    body = {"assistant_id": wait.agent, "command": {"resume": resume}}
    return f"/langgraph/threads/{wait.thread}/runs/wait", body


def langgraph_commands(wait: Open) -> Request:
    response = {"approved": False, "reason": SAID} if wait.kind == "tool" else wait.value
    params = {"interrupt_id": wait.wait_id, "response": response}
    return f"/langgraph/threads/{wait.thread}/commands", {"id": 1, "method": "input.respond", "params": params}


def mcp(wait: Open) -> Request:
    return "/mcp", {"jsonrpc": "2.0", "id": wait.wait_id, "result": _form(wait)}


def mcp_tasks(wait: Open) -> Request:
    capabilities: dict[str, Any] = {"extensions": {f"{META}tasks": {}}}
    about = {f"{META}protocolVersion": STATELESS, f"{META}clientCapabilities": capabilities}
    params = {"taskId": wait.run_id, "inputResponses": {wait.wait_id: _form(wait)}, "_meta": about}
    return "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tasks/update", "params": params}


def _form(wait: Open) -> dict[str, Any]:
    decision = {"approved": False, "reason": SAID}
    content = {"question": wait.value, "client_tool": {"value": SAID}, "tool": decision}[wait.kind]
    return {"action": "accept", "content": content}


def a2a(wait: Open) -> Request:
    answer = {"approved": True, "editedArgs": EDITED} if wait.kind == "tool" else {"value": wait.value}
    parts = [{"data": {"waitId": wait.wait_id, **answer}}, {"text": SAID}]
    params = {"message": {**A2A_MESSAGE, "messageId": str(uuid4()), "taskId": wait.run_id, "parts": parts}}
    return f"/a2a/{wait.agent}", {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}


def responses(wait: Open) -> Request:
    result = {"type": "function_call_output", "call_id": wait.wait_id, "output": SAID}
    return "/v1/responses", {"model": wait.agent, "input": [result]}


def completions(wait: Open) -> Request:
    call = {"id": wait.wait_id, "type": "function", "function": {"name": "where", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": wait.wait_id, "content": SAID},
    ]
    return "/v1/chat/completions", {"model": wait.agent, "messages": messages}


ANSWERS: Mapping[str, tuple[str, Callable[[Open], Request], tuple[str, ...]]] = {
    # the face of the request that starts the run (`REQUESTS`), the answer, and the kinds of waits that the face answers
    "ai": ("ai", ai_sdk, KINDS),
    "ag-ui": ("ag-ui", ag_ui, KINDS),
    "langgraph": ("langgraph", langgraph, KINDS),
    "langgraph commands": ("langgraph", langgraph_commands, KINDS),
    "mcp": ("mcp", mcp, KINDS),
    "mcp tasks": ("mcp", mcp_tasks, KINDS),
    "a2a": ("a2a", a2a, KINDS),
    "responses": ("responses", responses, ("client_tool",)),
    "completions": ("completions", completions, ("client_tool",)),
}
