"""The table of routes that take content: what a test sends to each, and which fields are ids.

Every text in `CONTENT` carries the sensitive one. The fields in `IDS` are stored and returned unchanged. Those in
`ANSWERED` take answers, which another test sends.
"""

from typing import Any

from runyard.faces.langgraph.wire import (
    AssistantCount,
    AssistantSearch,
    EventsWanted,
    HistorySearch,
    NewAssistant,
    NewRun,
    RunsToCancel,
    StateUpdate,
    ThreadCount,
    ThreadSearch,
    VersionSearch,
)
from runyard.faces.openai.wire import NewCompletion, NewConversation, NewResponse

MAIL = "zqann@example.com"
SAID = f"ask {MAIL}"
APPROVE = "/chats/{chat_id}/interactions/{interaction_id}/approve"
MEMBER = "/api/channels/{channel_id}/members/{kind}/{member_id}"
READER = "/api/agents/{agent_id}/memory/{label}/readers/{reader_id}"
EDITED = {"to": MAIL, "text": SAID}
TASK = {"inputs": {"question": SAID, MAIL: {"deep": [SAID]}}, "user_id": MAIL, "mode": MAIL, "risk_tier": MAIL}
TOOL = {"name": "look", "description": SAID, "input_schema": {"description": SAID}}
UI_MESSAGES = [
    {"id": "m1", "role": "assistant", "parts": [{"type": "text", "text": SAID}]},
    {"id": "m2", "role": "user", "parts": [{"type": "text", "text": SAID}]},
]
A2A_MESSAGE = {"messageId": MAIL, "role": "ROLE_USER", "parts": [{"text": SAID}, {"data": {MAIL: [SAID]}}]}
LG_SAID: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": SAID}], "id": MAIL}
LG_RUN: dict[str, Any] = {"input": {"messages": [{"role": "ai", "content": SAID}, LG_SAID]}, "metadata": {MAIL: SAID}}
LG_VALUES = {"messages": [{"role": role, "content": SAID} for role in ("ai", "user")]}
LG_BATCH = "/langgraph/runs/batch"  # its body is a list of runs
LG_PATHS = [
    f"/langgraph{place}/runs{path}" for place in ("", "/threads/{thread_id}") for path in ("", "/stream", "/wait")
]
RPC = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}
TASK |= {"domain_id": MAIL, "workflow_id": MAIL, "stage_id": MAIL}
CONTENT: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/api/threads/{thread_id}/messages"): {"content": SAID, "tools": [TOOL], "parts": None},
    ("PATCH", "/api/threads/{thread_id}"): {"title": SAID},
    ("PUT", "/api/runs/{run_id}/feedback"): {"comment": SAID},
    ("POST", "/api/waits/{wait_id}"): {"value": {"row": 1, "why": SAID}, "error": SAID},
    ("POST", "/api/events"): {"key": MAIL, "data": {MAIL: [SAID]}},
    ("POST", "/api/approvals/{approval_id}"): {"reason": SAID, "input": EDITED},
    ("POST", "/api/keys"): {"label": SAID},
    ("POST", "/chats/{chat_id}/interactions"): {"user_message": SAID},
    ("POST", "/chats/{chat_id}/interactions/{interaction_id}/edit"): {"new_user_message": SAID},
    ("POST", APPROVE): {"reason": SAID, "tool_input": EDITED},
    ("POST", "/agents/run/sync"): TASK,
    ("POST", "/agents/run/stream"): TASK,
    ("POST", "/v1/responses"): {
        "input": [{"role": "assistant", "content": SAID}, {"role": "user", "content": SAID}],
        "instructions": SAID,
        "metadata": {MAIL: SAID},
        "tools": [{"type": "function", "name": "look", "description": SAID, "parameters": {"description": SAID}}],
    },
    ("POST", "/v1/chat/completions"): {
        "messages": [
            {"role": "system", "content": SAID},
            {"role": "user", "content": [{"type": "text", "text": SAID}]},
        ],
        "metadata": {MAIL: SAID},
        "tools": [{"type": "function", "function": {"name": "look", "description": SAID}}],
    },
    ("POST", "/api/ai/{agent}"): {"messages": UI_MESSAGES, "tools": [TOOL]},
    ("POST", "/api/ai/{agent}/{chat_id}"): {"messages": UI_MESSAGES, "tools": [TOOL]},
    ("POST", "/api/ag-ui/{agent}"): {
        "messages": [{"id": "m1", "role": "assistant", "content": SAID}, {"id": "m2", "role": "user", "content": SAID}],
        "state": {MAIL: SAID},
        "tools": [{"name": "look", "description": SAID, "parameters": {"description": SAID}}],
        "context": [{"description": MAIL, "value": SAID}],
    },
    ("POST", "/mcp"): {
        "method": "tools/call",
        "params": {"name": "happy", "arguments": {"message": SAID}},
    },
    ("POST", "/a2a/{agent}"): {**RPC, "params": {"message": A2A_MESSAGE}},
    ("POST", "/a2a/{agent}/"): {**RPC, "params": {"message": {**A2A_MESSAGE, "messageId": "m2"}}},
    ("POST", "/a2a/{agent}/message:send"): {"message": {**A2A_MESSAGE, "messageId": "m3"}},
    ("POST", "/a2a/{agent}/message:stream"): {"message": {**A2A_MESSAGE, "messageId": "m4"}},
    **{("POST", path): LG_RUN for path in (*LG_PATHS, LG_BATCH)},
    ("POST", "/langgraph/threads"): {
        "metadata": {MAIL: [SAID], "graph_id": "happy"},
        "supersteps": [{"updates": [{"values": LG_VALUES}]}],
    },
    ("POST", "/langgraph/threads/{thread_id}/state"): {"values": LG_VALUES},
    ("PATCH", "/langgraph/threads/{thread_id}"): {"metadata": {MAIL: [SAID]}},
    ("PATCH", "/langgraph/threads/{thread_id}/state"): {"metadata": {MAIL: [SAID]}},
    ("POST", "/langgraph/threads/{thread_id}/commands"): {
        "method": "run.start",
        "params": {"assistant_id": "happy", **LG_RUN},
    },
    ("POST", "/api/channels"): {"name": SAID, "topic": SAID},
    ("PATCH", "/api/channels/{channel_id}"): {"name": SAID, "topic": SAID},
    ("POST", "/api/messages"): {"text": SAID},
    ("PATCH", "/api/messages/{message_id}"): {"text": SAID},
    ("POST", "/api/messages/{message_id}/reactions"): {"emoji": MAIL},
    ("POST", "/api/agents"): {"displayName": SAID, "title": SAID, "avatarColor": MAIL, "systemPrompt": SAID},
    ("PATCH", "/api/agents/{agent_id}"): {
        "displayName": SAID,
        "title": SAID,
        "avatarColor": MAIL,
        "systemPrompt": SAID,
    },
    ("PUT", "/api/agents/{agent_id}/memory/{label}"): {"content": SAID},
    ("POST", "/api/agents/{agent_id}/passages"): {"content": SAID, "tags": [MAIL]},
}
IDS: dict[tuple[str, str], set[str]] = {
    ("POST", "/api/threads"): {"user_id", "agent"},
    ("POST", "/api/threads/{thread_id}/messages"): {"agent", "files", "while_running"},
    ("POST", "/api/threads/{thread_id}/fork"): {"run_id", "at_seq"},
    ("POST", "/api/threads/{thread_id}/shares"): {"days"},
    ("PUT", "/api/runs/{run_id}/feedback"): {"value"},
    ("POST", "/api/approvals/{approval_id}"): {"decision"},
    ("POST", "/api/events"): {"id", "name"},
    ("POST", "/api/keys"): {"owner", "scopes", "expires_in"},
    ("POST", "/chats/{chat_id}/interactions"): {"agent", "while_running"},
    ("POST", "/chats/{chat_id}/interactions/{interaction_id}/edit"): {"agent"},
    ("POST", APPROVE): {"approval_id", "approved"},
    ("POST", "/agents/runs"): {"runId", "plan"},
    ("POST", "/agents/run/sync"): {"request_id", "task_type", "budgets"},
    ("POST", "/agents/run/stream"): {"request_id", "task_type", "budgets"},
    ("POST", "/api/ai/{agent}"): {"id", "trigger", "messageId"},
    ("POST", "/api/ai/{agent}/{chat_id}"): {"id", "trigger", "messageId"},
    ("POST", "/api/ag-ui/{agent}"): {
        "threadId",
        "runId",
        "protocolVersion",
        "parentRunId",
        "forwardedProps",
    },
    ("POST", "/mcp"): {"jsonrpc", "id", "error"},
    ("POST", "/a2a/{agent}/message:send"): {"configuration"},
    ("POST", "/a2a/{agent}/message:stream"): {"configuration"},
    # an address and its secrets are sent as they are
    ("POST", "/a2a/{agent}/tasks/{task_id}/pushNotificationConfigs"): {"id", "url", "token", "authentication"},
    ("POST", "/langgraph/assistants"): set(NewAssistant.model_fields),  # nothing is stored
    ("POST", "/langgraph/assistants/search"): set(AssistantSearch.model_fields),
    ("POST", "/langgraph/threads"): {"thread_id", "if_exists", "ttl"},
    ("PATCH", "/langgraph/threads/{thread_id}"): {"ttl"},
    ("POST", "/langgraph/threads/{thread_id}/state"): set(StateUpdate.model_fields) - {"values"},
    ("POST", "/langgraph/threads/count"): set(ThreadCount.model_fields),
    ("POST", "/langgraph/assistants/count"): set(AssistantCount.model_fields),
    ("POST", "/langgraph/assistants/{assistant_id}/versions"): set(VersionSearch.model_fields),
    ("POST", "/langgraph/runs/cancel"): set(RunsToCancel.model_fields),
    ("POST", "/langgraph/threads/{thread_id}/stream/events"): set(EventsWanted.model_fields),
    ("POST", "/langgraph/threads/{thread_id}/commands"): {"id"},
    ("POST", "/langgraph/threads/search"): set(ThreadSearch.model_fields),
    ("POST", "/langgraph/threads/{thread_id}/history"): set(HistorySearch.model_fields),
    ("POST", "/langgraph/threads/{thread_id}/state/checkpoint"): {"checkpoint", "subgraphs", "select"},
    ("POST", "/api/channels"): {"kind", "agents", "users"},
    ("PATCH", "/api/channels/{channel_id}"): {"kind"},
    ("POST", "/api/dms"): {"agentId", "otherAgentId", "userId"},
    ("POST", "/api/messages"): {"channelId", "dmConversationId", "parentMessageId", "userId"},
    ("POST", "/api/messages/{message_id}/reactions"): {"userId"},
    ("PUT", "/api/channels/{channel_id}/read"): {"messageId"},
    ("PUT", "/api/dms/{dm_id}/read"): {"messageId"},
    ("POST", "/api/agents"): {"id", "modelId", "maxTurns", "maxBudgetUsd"},
    ("PATCH", "/api/agents/{agent_id}"): {"modelId", "maxTurns", "maxBudgetUsd", "isActive"},
    ("PUT", "/api/agents/{agent_id}/memory/{label}"): {"isShared"},
}
# parameters that are ignored, refused, or chosen from a few
IDS["POST", "/v1/responses"] = set(NewResponse.model_fields) - CONTENT["POST", "/v1/responses"].keys()
IDS["POST", "/v1/chat/completions"] = set(NewCompletion.model_fields) - CONTENT["POST", "/v1/chat/completions"].keys()
IDS["POST", "/v1/conversations"] = set(NewConversation.model_fields)
for _path in (*LG_PATHS, LG_BATCH):
    IDS["POST", _path] = set(NewRun.model_fields) - {"input", "metadata", "command"}
# Fields of these routes that only take answers to what a run waits for. test_answers_redact.py sends them.
ANSWERED: dict[tuple[str, str], set[str]] = {
    ("POST", "/api/ag-ui/{agent}"): {"resume"},
    ("POST", "/mcp"): {"result"},
    **{("POST", path): {"command"} for path in (*LG_PATHS, LG_BATCH)},
}
NO_BODY = {
    ("POST", "/langgraph/threads/{thread_id}/copy"),
    ("POST", "/langgraph/threads/{thread_id}/runs/{run_id}/cancel"),
    ("POST", "/a2a/{agent}/tasks/{task_id}:cancel"),
    ("POST", "/a2a/{agent}/tasks/{task_id}:subscribe"),
    ("POST", "/api/ai/{agent}/{chat_id}/stop"),
    ("POST", "/api/ag-ui/{agent}/{thread_id}/stop"),
    ("POST", "/v1/responses/{response_id}/cancel"),
    ("POST", "/api/runs/{run_id}/cancel"),
    ("POST", "/api/runs/{run_id}/retry"),
    ("POST", "/agents/runs/{run_id}/cancel"),
    ("POST", "/chats/{chat_id}/interactions/{interaction_id}/cancel"),
    ("POST", "/chats/{chat_id}/interactions/{interaction_id}/retry"),
    ("PUT", MEMBER),
    ("PUT", READER),
    ("POST", "/api/files"),  # the bytes of a file are stored as they are; its name is redacted
}
