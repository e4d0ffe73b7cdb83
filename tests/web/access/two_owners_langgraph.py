"""The responses of LangGraph routes to Bob's requests with Ann's ids."""

from collections.abc import Sequence
from typing import Any

from tests.web.access.two_owners import ONCE
from tests.web.access.two_owners_table import PUBLIC, RUN, RUNS, THREAD, Try, gone, none

LG_THREADS = [gone(THREAD), gone({"thread_id": "<dm>"}), gone({"thread_id": "<channel>"})]
LG_RUN: dict[str, Any] = {"assistant_id": "clerk"}
LG_POSTS = [
    gone(THREAD, {**LG_RUN, "input": "hello"}),
    gone({"thread_id": "<own thread>"}, {**LG_RUN, "command": {"resume": {"<approval>": True}}}),
    gone({"thread_id": "<own thread>"}, {**LG_RUN, "command": {"resume": {"<wait>": {}}}}),
    Try(409, {"thread_id": "<own thread>"}, body={**LG_RUN, "command": {"resume": True}}),
]
LG_READS: Sequence[tuple[str, dict[str, Any]]] = [
    ("state.get", {}),
    ("state.fork", {"checkpoint_id": "<run>"}),
    ("state.listCheckpoints", {"before": "<run>"}),
    ("agent.getTree", {}),
    ("input.respond", {"interrupt_id": "<approval>", "response": True}),
    ("input.respond", {"interrupt_id": "<wait>", "response": {}}),
]
LG_COMMANDS = [
    *(gone(THREAD, {"id": 1, "method": name, "params": params}) for name, params in LG_READS),
    *(  # the response has an error, or is about a thread of Bob's
        Try(200, {"thread_id": "<own thread>"}, body={"id": 1, "method": name, "params": params})
        for name, params in LG_READS
    ),
    Try(
        200,
        {"thread_id": "<ui chat>"},
        body={"id": 1, "method": "run.start", "params": {**LG_RUN, "input": "of bob"}},
    ),
]
LG_ASSISTANTS = [none({"assistant_id": "clerk"}), gone({"assistant_id": "<agent>"})]
LG_RUNS = [gone({**THREAD, **RUN}), gone({"thread_id": "<own thread>", **RUN})]

LANGGRAPH: dict[str, Sequence[Try]] = {
    "GET /langgraph/ok": PUBLIC,
    "GET /langgraph/info": PUBLIC,
    "POST /langgraph/assistants": [gone(body={"graph_id": "<agent>"})],
    "POST /langgraph/assistants/search": [Try(200, body={"graph_id": "<agent>"})],
    "POST /langgraph/assistants/count": [Try(200, body={"graph_id": "<agent>"})],
    **{
        f"{method} /langgraph/assistants/{{assistant_id}}{path}": LG_ASSISTANTS
        for method, path in (("GET", ""), ("GET", "/schemas"), ("GET", "/graph"), ("GET", "/subgraphs"))
    },
    "POST /langgraph/assistants/{assistant_id}/versions": [
        Try(200, {"assistant_id": "clerk"}, body={}),
        gone({"assistant_id": "<agent>"}, {}),
    ],
    "POST /langgraph/threads": [
        Try(200, body={"thread_id": "<ui chat>", "if_exists": "do_nothing", "metadata": {"user": "bob"}}),
        Try(200, headers=ONCE, body={"metadata": {"user": "bob"}}),
    ],
    "POST /langgraph/threads/search": [
        Try(200, body={"ids": ["<thread>"]}),
        Try(200, body={"metadata": {"user": "ann"}}),
    ],
    "POST /langgraph/threads/count": [Try(200, body={"metadata": {"user": "ann"}})],
    "GET /langgraph/threads/{thread_id}": LG_THREADS,
    "PATCH /langgraph/threads/{thread_id}": [gone(THREAD, {"metadata": {"user": "bob"}})],
    "DELETE /langgraph/threads/{thread_id}": LG_THREADS,
    "POST /langgraph/threads/{thread_id}/copy": LG_THREADS,
    "GET /langgraph/threads/{thread_id}/state": LG_THREADS,
    "GET /langgraph/threads/{thread_id}/state/{checkpoint_id}": [
        gone({**THREAD, "checkpoint_id": "<run>"}),
        gone({"thread_id": "<own thread>", "checkpoint_id": "<run>"}),
    ],
    "POST /langgraph/threads/{thread_id}/state/checkpoint": [
        gone(THREAD, {"checkpoint": {}}),
        gone({"thread_id": "<own thread>"}, {"checkpoint": {"checkpoint_id": "<run>"}}),
    ],
    "POST /langgraph/threads/{thread_id}/history": [gone(THREAD, {})],
    "POST /langgraph/threads/{thread_id}/state": [
        gone(THREAD, {"values": {"messages": ["of bob"]}}),
        gone({"thread_id": "<own thread>"}, {"values": {"messages": ["of bob"]}, "checkpoint_id": "<run>"}),
    ],
    "PATCH /langgraph/threads/{thread_id}/state": [gone(THREAD, {"metadata": {"user": "bob"}})],
    "POST /langgraph/threads/{thread_id}/stream/events": [
        gone(each, {"channels": ["values", "lifecycle"]}) for each in (THREAD, {"thread_id": "<dm>"})
    ],
    "POST /langgraph/threads/{thread_id}/commands": LG_COMMANDS,
    "GET /langgraph/threads/{thread_id}/runs": LG_THREADS,
    **{f"POST /langgraph/threads/{{thread_id}}/runs{path}": LG_POSTS for path in ("", "/stream", "/wait")},
    **{
        f"POST /langgraph/runs{path}": [Try(200, headers=ONCE, body={**LG_RUN, "input": "of bob"})]
        for path in ("", "/stream", "/wait")
    },
    **{
        f"{method} /langgraph/threads/{{thread_id}}/runs/{{run_id}}{path}": LG_RUNS
        for method, path in (("GET", ""), ("POST", "/cancel"), ("GET", "/join"), ("GET", "/stream"))
    },
    "GET /langgraph/runs/{run_id}/stream": RUNS,
    "POST /langgraph/runs/batch": [Try(200, headers=ONCE, body=[{**LG_RUN, "input": "of bob"}])],
    "POST /langgraph/runs/cancel": [
        gone(body={"thread_id": "<thread>", "run_ids": ["<run>"]}),
        gone(body={"thread_id": "<own thread>", "run_ids": ["<run>"]}),
        Try(204, body={"status": "all"}),
    ],
}
