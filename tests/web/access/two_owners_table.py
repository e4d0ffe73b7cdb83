"""The response to Bob's request with Ann's ids, for every operation of `/openapi.json`."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from tests.web.access.every_route import A2A_MESSAGE, AG_UI_MESSAGE, UI_MESSAGES
from tests.web.access.two_owners import MARKER, ONCE, TASK


class Try(Struct, frozen=True):
    """One request of Bob's: what the parts of the path stand for, what else is sent, and the status it is answered
    with. `<name>` stands for an id of Ann's, `<own name>` for one of Bob's."""

    status: int
    path: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    body: Any = None
    headers: Mapping[str, str] = {}


def gone(path: Mapping[str, str] = {}, body: Any = None, **query: str) -> Try:
    """Not found, as if it were not there."""
    return Try(404, path, query, body)


def none(path: Mapping[str, str] = {}, **query: str) -> Try:
    """An answer without anything of Ann's."""
    return Try(200, path, query)


def task(method: str, run: str) -> Try:
    """Ask about a run as a task of MCP."""
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": f"tasks/{method}", "Mcp-Name": run}
    params = {"_meta": META, "taskId": run, "inputResponses": {"<approval>": YES}}
    return Try(400, headers=headers, body={"jsonrpc": "2.0", "id": 1, "method": f"tasks/{method}", "params": params})


def _rpc(method: str, params: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


THREAD, RUN = {"thread_id": "<thread>"}, {"run_id": "<run>"}
CHAT, DONE = {"chat_id": "<chat>"}, {"chat_id": "<chat>", "interaction_id": "<done>"}
CHANNEL, DM, MESSAGE = {"channel_id": "<channel>"}, {"dm_id": "<dm>"}, {"message_id": "<message>"}
READ, OPERATORS = {"messageId": "<message>"}, [Try(403)]
PLAN, CLERK, AGENT = {"run_id": "<plan>"}, {"agent_id": "clerk"}, {"agent_id": "<agent>"}
LABEL, RESPONSE = {"label": "<label>"}, {"response_id": "<response>"}
RUNS = [gone(RUN), gone({"run_id": "<asking>"}), gone({"run_id": "<letter>"}), gone({"run_id": "<task>"})]
APPROVED: dict[str, Any] = {"type": "tool-mail", "toolCallId": "c", "state": "approval-responded"}
APPROVED |= {"approval": {"id": "<approval>", "approved": True}}
ANSWER = {"id": "<asking>", "role": "assistant", "parts": [APPROVED]}
RESUME = {"interruptId": "<approval>", "status": "resolved", "payload": {"approved": True}}
CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
ABLE: dict[str, Any] = {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": ABLE,
}
YES = {"action": "accept", "content": {"approved": True}}
FORM: dict[str, Any] = {"jsonrpc": "2.0", "id": "<approval>", "result": YES}
OF_BOB = {"message": "of bob", "thread_id": "<ui chat>"}
RESULT = {"id": "m", "role": "tool", "toolCallId": "<wait>", "content": "mine"}
A2A_CLERK = {"agent": "clerk"}
A2A_ANSWER = {"messageId": "m2", "role": "ROLE_USER", "parts": [{"text": "yes"}], "taskId": "<asking>"}
A2A_TASKS = [gone({**A2A_CLERK, "task_id": each}) for each in ("<run>", "<asking>", "<letter>", "<task>")]
A2A_CONFIGS = [gone({**A2A_CLERK, "task_id": "<run>", "config_id": "c1"})]
PUBLIC = [none()]

TABLE: dict[str, Sequence[Try]] = {
    # threads
    "POST /api/threads": [Try(422, body={"agent": "<agent>"}), Try(201, headers=ONCE, body={"user_id": "ann"})],
    "GET /api/threads": [none(), none(before="<thread>")],
    "GET /api/threads/{thread_id}": [gone(THREAD), gone({"thread_id": "<dm>"}), gone({"thread_id": "<channel>"})],
    "PATCH /api/threads/{thread_id}": [gone(THREAD, {"title": "mine"}), gone({"thread_id": "<dm>"}, {"title": "mine"})],
    "GET /api/threads/{thread_id}/export": [gone(THREAD), gone({"thread_id": "<channel>"})],
    "GET /api/search": [none(query=MARKER), none(query=MARKER, before="<message>")],
    "GET /api/ids": [none(kind="run", part="<run>"), none(kind="wait", part="<approval>")],
    "DELETE /api/threads/{thread_id}": [gone(THREAD), gone({"thread_id": "<dm>"})],
    "POST /api/threads/{thread_id}/messages": [
        gone(THREAD, {"content": "hello"}),
        gone({"thread_id": "<dm>"}, {"content": "hello"}),
        Try(422, {"thread_id": "<own thread>"}, body={"content": "hello", "agent": "<agent>"}),
        gone({"thread_id": "<own thread>"}, {"content": "hello", "files": ["<file>"]}),
        gone({"thread_id": "<own thread>"}, {"parts": [{"type": "file", "file_id": "<file>"}]}),
    ],
    "POST /api/files": [Try(201, query={"name": "bobs.json"}, body={"of": "bob"})],
    "GET /api/files/{file_id}": [gone({"file_id": "<file>"})],
    "POST /api/threads/{thread_id}/fork": [
        gone(THREAD, {}),
        gone(THREAD, {"run_id": "<run>"}),
        gone({"thread_id": "<own thread>"}, {"run_id": "<run>"}),
        gone({"thread_id": "<own thread>"}, {"run_id": "<run>", "at_seq": 1}),
    ],
    # runs
    "GET /api/runs": [none(), none(thread_id="<thread>"), none(before="<run>"), none(agent="<agent>")],
    "GET /api/runs/{run_id}": RUNS,
    "GET /api/runs/{run_id}/events": RUNS,
    "GET /api/runs/{run_id}/log": RUNS,
    "GET /api/runs/{run_id}/state": RUNS,
    "GET /api/runs/{run_id}/request": [Try(404, RUN, {"at": "1"}), Try(404, {"run_id": "<letter>"}, {"at": "1"})],
    "GET /api/runs/{run_id}/sources": RUNS,
    "POST /api/runs/{run_id}/cancel": RUNS,
    "POST /api/runs/{run_id}/retry": RUNS,
    "GET /api/approvals": [none(), none(before="<approval>")],
    "POST /api/approvals/{approval_id}": [
        gone({"approval_id": "<approval>"}, {"decision": "approve"}),
        gone({"approval_id": "<chat_approval>"}, {"decision": "reject"}),
    ],
    "GET /api/waits": [none(), none(before="<wait>"), gone(run_id="<booking>")],
    "GET /api/me": [none()],
    "GET /api/statistics": [none(), none(agent="clerk"), Try(403, query={"all": "true"})],
    "GET /api/waits/changes": [none()],
    "GET /api/waits/{wait_id}": [gone({"wait_id": "<wait>"}), gone({"wait_id": "<approval>"})],
    "POST /api/waits/{wait_id}": [
        gone({"wait_id": "<wait>"}, {"value": {"row": 1}}),
        gone({"wait_id": "<approval>"}, {"value": True}),
        gone({"wait_id": "<wait>"}, {"error": "no"}),
    ],
    "POST /api/events": [
        Try(202, body={"id": "anns-event", "name": "order.paid", "key": "A-1", "data": "of bob"}),
        Try(202, body={"id": "bobs-event", "name": "order.paid", "key": "A-1", "data": "of bob"}),
    ],
    # channels: places
    "GET /api/sse": [none()],
    "POST /api/channels": [
        Try(422, body={"name": "mine", "agents": ["<agent>"]}),
        Try(201, headers=ONCE, body={"name": "of bob", "kind": "private"}),
    ],
    "GET /api/channels": [none(), none(before="<channel>")],
    "GET /api/channels/{channel_id}": [gone(CHANNEL), gone({"channel_id": "<dm>"})],
    "PATCH /api/channels/{channel_id}": [gone(CHANNEL, {"topic": "mine"}), gone(CHANNEL, {"kind": "public"})],
    "DELETE /api/channels/{channel_id}": [gone(CHANNEL)],
    "PUT /api/channels/{channel_id}/members/{kind}/{member_id}": [
        gone({**CHANNEL, "kind": "user", "member_id": "bob"}),
        gone({**CHANNEL, "kind": "agent", "member_id": "clerk"}),
        Try(422, {"channel_id": "<own channel>", "kind": "agent", "member_id": "<agent>"}),
    ],
    "DELETE /api/channels/{channel_id}/members/{kind}/{member_id}": [
        gone({**CHANNEL, "kind": "agent", "member_id": "clerk"})
    ],
    "POST /api/dms": [
        Try(422, body={"agentId": "<agent>"}),
        Try(422, body={"agentId": "clerk", "otherAgentId": "<agent>"}),
        Try(422, body={"agentId": "clerk", "userId": "ann"}),
        Try(201, body={"agentId": "clerk"}),
    ],
    "GET /api/dms": [none(), none(before="<dm>")],
    "GET /api/dms/{dm_id}": [gone(DM)],
    "DELETE /api/dms/{dm_id}": [gone(DM)],
    "GET /api/channels/{channel_id}/runs": [gone(CHANNEL), gone({"channel_id": "<dm>"})],
    "GET /api/dms/{dm_id}/runs": [gone(DM), gone({"dm_id": "<channel>"})],
    "PUT /api/channels/{channel_id}/read": [gone({"channel_id": "<own channel>"}, READ), gone(CHANNEL, READ)],
    "PUT /api/dms/{dm_id}/read": [gone(DM, READ)],
    "GET /api/unread": [none()],
    # channels: messages
    "POST /api/messages": [
        gone(body={"channelId": "<channel>", "text": "hello"}),
        gone(body={"dmConversationId": "<dm>", "text": "hello"}),
        gone(body={"dmConversationId": "<dm>", "text": "hello", "userId": "ann"}),
        gone(body={"channelId": "<own channel>", "text": "hello", "parentMessageId": "<message>"}),
        Try(422, body={"channelId": "<own channel>", "text": "hello", "userId": "ann"}),
        Try(201, headers=ONCE, body={"channelId": "<own channel>", "text": "hello"}),
    ],
    "GET /api/messages": [
        gone(channelId="<channel>"),
        gone(dmConversationId="<dm>"),
        none(channelId="<own channel>", parentMessageId="<message>"),
        none(channelId="<own channel>", before="<message>"),
    ],
    "GET /api/messages/{message_id}": [gone(MESSAGE)],
    "PATCH /api/messages/{message_id}": [gone(MESSAGE, {"text": "other words"})],
    "DELETE /api/messages/{message_id}": [gone(MESSAGE)],
    "POST /api/messages/{message_id}/reactions": [
        gone(MESSAGE, {"emoji": "no"}),
        gone(MESSAGE, {"emoji": "no", "userId": "ann"}),
    ],
    "DELETE /api/messages/{message_id}/reactions/{emoji}": [gone({**MESSAGE, "emoji": "ok"})],
    # agents: hers, and one that is declared and remembers something of hers
    "POST /api/agents": [Try(409, body={"id": "<agent>", "modelId": "fake/model"})],
    "GET /api/agents": [none(), none(inactive="true")],
    "GET /api/agents/{agent_id}": [gone(AGENT), none(CLERK)],
    "PATCH /api/agents/{agent_id}": [gone(AGENT, {"title": "mine"}), Try(403, CLERK, body={"title": "mine"})],
    "DELETE /api/agents/{agent_id}": [gone(AGENT), Try(403, CLERK)],
    "GET /api/agents/{agent_id}/prompt": [
        gone(AGENT),
        none(CLERK),
        gone(CLERK, channelId="<channel>"),
        gone(CLERK, dmConversationId="<dm>"),
    ],
    "GET /api/agents/{agent_id}/memory": [gone(AGENT), none(CLERK)],
    "DELETE /api/agents/{agent_id}/memory/{label}": [gone({**AGENT, **LABEL}), gone({**CLERK, **LABEL})],
    "PUT /api/agents/{agent_id}/memory/{label}/readers/{reader_id}": [
        gone({**AGENT, **LABEL, "reader_id": "clerk"}),
        gone({**CLERK, **LABEL, "reader_id": "<own agent>"}),
        gone({"agent_id": "<own agent>", "label": "own", "reader_id": "<agent>"}),
    ],
    "DELETE /api/agents/{agent_id}/memory/{label}/readers/{reader_id}": [
        gone({**AGENT, **LABEL, "reader_id": "clerk"}),
        Try(204, {**CLERK, **LABEL, "reader_id": "<agent>"}),
    ],
    "PUT /api/agents/{agent_id}/memory/{label}": [
        gone({**AGENT, **LABEL}, {"content": "mine"}),
        Try(200, {**CLERK, **LABEL}, body={"content": "of bob", "isShared": True}),
    ],
    "GET /api/agents/{agent_id}/passages": [gone(AGENT), none(CLERK), none(CLERK, query=MARKER)],
    "POST /api/agents/{agent_id}/passages": [
        gone(AGENT, {"content": "mine"}),
        Try(201, CLERK, body={"content": "of bob"}),
    ],
    "DELETE /api/agents/{agent_id}/passages/{passage_id}": [
        gone({**AGENT, "passage_id": "<passage of anns-agent>"}),
        gone({**CLERK, "passage_id": "<passage of clerk>"}),
    ],
    "GET /api/agents/{agent_id}/runs": [gone(AGENT), none(CLERK), none(CLERK, before="<letter>")],
    "GET /api/agents/{agent_id}/runs/{run_id}": [
        gone({**CLERK, "run_id": "<letter>"}),
        gone({**AGENT, "run_id": "<letter>"}),
    ],
    "GET /api/agents/{agent_id}/usage": [gone(AGENT), none(CLERK)],
    # chats: names are each owner's own
    "GET /chats": [none(), none(before="<thread>")],
    "GET /chats/{chat_id}": [gone(CHAT), gone({"chat_id": "<thread>"}), gone({"chat_id": "<dm>"})],
    "DELETE /chats/{chat_id}": [gone(CHAT), gone({"chat_id": "<thread>"})],
    "GET /chats/{chat_id}/interactions/{interaction_id}": [gone(DONE)],
    "GET /chats/{chat_id}/interactions/{interaction_id}/events": [gone(DONE)],
    "POST /chats/{chat_id}/interactions/{interaction_id}/edit": [gone(DONE, {"new_user_message": "mine"})],
    "POST /chats/{chat_id}/interactions/{interaction_id}/retry": [gone(DONE)],
    "POST /chats/{chat_id}/interactions/{interaction_id}/cancel": [gone({**CHAT, "interaction_id": "<waits>"})],
    "POST /chats/{chat_id}/interactions/{interaction_id}/approve": [
        gone({**CHAT, "interaction_id": "<waits>"}, {"approval_id": "<chat_approval>", "approved": True})
    ],
    "POST /chats/{chat_id}/interactions": [Try(200, CHAT, body={"user_message": "hello"})],
    # plans: so are these
    "GET /agents/runs/{run_id}": [gone(PLAN), *RUNS],
    "GET /agents/runs/{run_id}/stream": [gone(PLAN), *RUNS],
    "POST /agents/runs/{run_id}/cancel": [gone(PLAN), *RUNS],
    "POST /agents/runs": [Try(201, headers=ONCE, body={"runId": "<plan>", "plan": "device"})],
    # the OpenAI face
    "POST /v1/responses": [
        gone(body={"input": "hello", "previous_response_id": "<response>"}),
        gone(body={"input": "hello", "conversation": "<conversation>"}),
        Try(400, body={"input": [{"type": "function_call_output", "call_id": "<wait>", "output": "mine"}]}),
        Try(200, headers=ONCE, body={"input": "of bob"}),
    ],
    "GET /v1/responses/{response_id}": [gone(RESPONSE), gone(RESPONSE, stream="true")],
    "GET /v1/responses/{response_id}/input_items": [gone(RESPONSE)],
    "POST /v1/responses/{response_id}/cancel": [gone(RESPONSE)],
    "DELETE /v1/responses/{response_id}": [gone(RESPONSE)],
    "POST /v1/chat/completions": [
        Try(400, body={"model": "clerk", "messages": [{"role": "tool", "tool_call_id": "<wait>", "content": "mine"}]}),
        Try(200, headers=ONCE, body={"model": "clerk", "messages": [{"role": "user", "content": "of bob"}]}),
    ],
    "GET /v1/models": PUBLIC,
    "GET /v1/models/{model}": [none({"model": "clerk"}), gone({"model": "<agent>"})],
    "POST /v1/conversations": [Try(200, body={})],
    "GET /v1/conversations/{conversation_id}": [gone({"conversation_id": "<conversation>"})],
    "DELETE /v1/conversations/{conversation_id}": [gone({"conversation_id": "<conversation>"})],
    # the AI SDK: chats are named by clients, so Ann's names are free for Bob
    "POST /api/ai/{agent}": [
        gone({"agent": "<agent>"}, {"id": "mine", **UI_MESSAGES}),
        Try(400, {"agent": "clerk"}, body={"id": "mine", "messages": [ANSWER]}),
        Try(200, {"agent": "clerk"}, body={"id": "<chat>", **UI_MESSAGES}),
    ],
    "POST /api/ai/{agent}/{chat_id}": [
        Try(400, {"agent": "clerk", **CHAT}, body={"messages": [ANSWER]}),
        Try(200, {"agent": "clerk", "chat_id": "<plan>"}, body=UI_MESSAGES),
    ],
    "GET /api/ai/{agent}/{chat_id}/stream": [
        Try(204, {"agent": "clerk", "chat_id": "<ui chat>"}),
        Try(204, {"agent": "clerk", "chat_id": "<run>"}),
        gone({"agent": "clerk", "chat_id": "<run>"}, startIndex="0"),
    ],
    "GET /api/ai/{agent}/{chat_id}/{stream_id}/stream": [
        gone({"agent": "clerk", "chat_id": "<ui chat>", "stream_id": "<run>"}, startIndex="-1"),
    ],
    "POST /api/ai/{agent}/{chat_id}/stop": [
        gone({"agent": "clerk", "chat_id": "<ui chat>"}),
        gone({"agent": "clerk", "chat_id": "<asking>"}),
    ],
    # AG-UI: so are threads
    "POST /api/ag-ui/{agent}": [
        gone({"agent": "<agent>"}, {"threadId": "mine", "runId": "r1", "messages": [AG_UI_MESSAGE]}),
        Try(400, {"agent": "clerk"}, body={"threadId": "mine", "runId": "r1", "messages": [], "resume": [RESUME]}),
        Try(400, {"agent": "clerk"}, body={"threadId": "mine", "runId": "r1", "messages": [RESULT]}),
        Try(200, {"agent": "clerk"}, body={"threadId": "<ui chat>", "runId": "r1", "messages": [AG_UI_MESSAGE]}),
    ],
    "POST /api/ag-ui/{agent}/{thread_id}/stop": [gone({"agent": "clerk", "thread_id": "<thread>"})],
    # MCP: a task is a run, a form answers a wait; threads are named by clients
    "POST /mcp": [
        *[task(method, run) for method in ("get", "update", "cancel") for run in ("<run>", "<asking>")],
        Try(400, body=FORM),
        Try(200, body={**CALL, "params": {"name": "<agent>", "arguments": {"message": "hello"}}}),
        Try(
            200,
            body={**CALL, "params": {"name": "clerk", "arguments": {"message": "of bob", "thread_id": "<ui chat>"}}},
        ),
    ],
    "GET /mcp": [Try(404, headers={"Last-Event-ID": "<mcp event>"}), Try(405)],
    # A2A: contexts are named by clients; errors of JSON-RPC have the status 200
    "GET /.well-known/agent-card.json": PUBLIC,
    "GET /a2a/{agent}/.well-known/agent-card.json": [none(A2A_CLERK), gone({"agent": "<agent>"})],
    "POST /a2a/{agent}": [
        gone({"agent": "<agent>"}, _rpc("GetTask", {"id": "<run>"})),
        *(
            Try(200, A2A_CLERK, body=_rpc(method, {"id": "<run>"}))
            for method in ("GetTask", "CancelTask", "SubscribeToTask", "GetTaskPushNotificationConfig")
        ),
        Try(200, A2A_CLERK, body=_rpc("ListTasks", {"contextId": "<thread>"})),
        Try(200, A2A_CLERK, body=_rpc("SendMessage", {"message": A2A_ANSWER})),
    ],
    "POST /a2a/{agent}/": [Try(200, A2A_CLERK, body=_rpc("GetTask", {"id": "<run>"}))],
    "POST /a2a/{agent}/message:send": [
        gone(A2A_CLERK, {"message": A2A_ANSWER}),
        gone(A2A_CLERK, {"message": {**A2A_MESSAGE, "parts": [{"url": "<file address>"}]}}),
        Try(200, A2A_CLERK, body={"message": {**A2A_MESSAGE, "contextId": "<ui chat>"}}),
    ],
    "POST /a2a/{agent}/message:stream": [gone(A2A_CLERK, {"message": A2A_ANSWER})],
    "GET /a2a/{agent}/tasks": [
        none(A2A_CLERK, contextId="<thread>"),
        Try(400, A2A_CLERK, query={"pageToken": "<run>"}),
    ],
    "GET /a2a/{agent}/tasks/{task_id}": A2A_TASKS,
    "POST /a2a/{agent}/tasks/{task_id}:cancel": A2A_TASKS,
    "GET /a2a/{agent}/tasks/{task_id}:subscribe": A2A_TASKS,
    "POST /a2a/{agent}/tasks/{task_id}:subscribe": A2A_TASKS,
    "GET /a2a/{agent}/tasks/{task_id}/pushNotificationConfigs": A2A_CONFIGS,
    "POST /a2a/{agent}/tasks/{task_id}/pushNotificationConfigs": [
        gone({**A2A_CLERK, "task_id": "<run>"}, {"url": "https://192.0.2.1"})
    ],
    "GET /a2a/{agent}/tasks/{task_id}/pushNotificationConfigs/{config_id}": A2A_CONFIGS,
    "DELETE /a2a/{agent}/tasks/{task_id}/pushNotificationConfigs/{config_id}": A2A_CONFIGS,
    "GET /a2a/{agent}/extendedAgentCard": [Try(400, A2A_CLERK)],
    # the agent contract
    "POST /agents/run/sync": [Try(200, headers=ONCE, body={**TASK, "inputs": {"query": "of bob"}})],
    "POST /agents/run/stream": [
        Try(404, headers={"Runyard-Run-Id": "<task>"}, body={**TASK, "inputs": {"query": "of bob"}}),
        Try(200, body={**TASK, "inputs": {"query": "of bob"}}),
    ],
    "GET /agents/schema.json": PUBLIC,
    # for operators, and for everybody
    "POST /api/keys": [Try(403, body={"owner": "ann"})],
    "GET /api/keys": OPERATORS,
    "DELETE /api/keys/{key_id}": [Try(403, {"key_id": "x"})],
    "GET /api/overview": OPERATORS,
    "GET /metrics": OPERATORS,
    "GET /health": PUBLIC,
    "GET /health/ready": PUBLIC,
}
