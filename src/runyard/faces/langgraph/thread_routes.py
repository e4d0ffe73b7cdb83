"""The routes of threads and assistants for LangGraph's SDKs. Assistants are agents; clients cannot change them."""

from importlib.metadata import version
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.conversations.thread import Thread
from runyard.engine.engine import Engine
from runyard.engine.intake.idempotency import idempotency_key
from runyard.errors import Conflict, NotFound
from runyard.faces.langgraph import wire
from runyard.faces.langgraph.follow import MOST_RUNS
from runyard.faces.langgraph.inputs import recorded
from runyard.faces.langgraph.start import FACE, cancel_all, find_thread, record
from runyard.faces.langgraph.threads import (
    branch,
    checkpoint_of,
    count,
    has_metadata,
    metadata_of,
    search,
    shown_thread,
    state_after,
    state_at,
)
from runyard.web.auth import Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json, Key
from runyard.web.routing import Router

BASE = "/langgraph"
THREAD = f"{BASE}/threads/{{thread_id}}"
EPOCH = "1970-01-01T00:00:00.000Z"
TTL = "This server does not support `ttl`. Leave it out; set a retention for the server."
MESSAGES = {
    "type": "object",
    "properties": {"messages": {"type": "array", "items": {"type": "object"}, "langgraph_type": "messages"}},
    "required": ["messages"],
}
NO_SETTINGS = {"type": "object", "properties": {}}
SETTINGS = (
    "This server has one assistant for each agent, with the settings of the agent. Send `graph_id` alone, or "
    "`if_exists: do_nothing` to use the agent as it is."
)

router = Router(FACE, is_open=True)


@router.get(f"{BASE}/ok")
async def ok() -> Response:
    """Tell whether this process answers."""
    return Json({"ok": True})


@router.get(f"{BASE}/info")
async def info(owner: Owner) -> Response:
    """Get the version and the abilities of this server."""
    return Json({"version": version("runyard"), "flags": {"assistants": True, "crons": False, "store": False}})


# --- assistants


def _assistant(name: str) -> dict[str, Any]:
    return {
        "assistant_id": name,
        "graph_id": name,
        "name": name,
        "description": None,
        "config": {},
        "context": {},
        "metadata": {},
        "version": 1,
        "created_at": EPOCH,
        "updated_at": EPOCH,
    }


@router.post(f"{BASE}/assistants")
async def create_assistant(engine: EngineDep, owner: Owner, body: wire.NewAssistant) -> Response:
    """Get the assistant of an agent: every agent has one. Settings in the request are refused."""
    if body.graph_id not in engine.intake.agents:
        raise wire.AssistantNotFound
    settings = (body.name, body.description, body.config, body.context, body.metadata)
    is_other = body.assistant_id not in (None, body.graph_id) or any(settings)
    if is_other and body.if_exists != "do_nothing":
        raise wire.Unsupported(SETTINGS)
    return Json(_assistant(body.graph_id))


@router.post(f"{BASE}/assistants/search")
async def search_assistants(
    engine: EngineDep, owner: Owner, request: Request, body: wire.AssistantSearch | None = None
) -> Response:
    """List the agents that fit."""
    asked = body or wire.AssistantSearch()
    names = _names(engine, asked)
    end = asked.offset + min(asked.limit, wire.MOST_ROWS)
    found = [_assistant(name) for name in names[asked.offset : end]]
    if asked.select is not None:
        found = [{name: each[name] for name in asked.select if name in each} for each in found]
    return Json(found, headers={"X-Pagination-Next": str(end)} if end < len(names) else None)


@router.post(f"{BASE}/assistants/count")
async def count_assistants(engine: EngineDep, owner: Owner, body: wire.AssistantCount | None = None) -> Response:
    """Count the agents that fit."""
    return Json(len(_names(engine, body or wire.AssistantCount())))


def _names(engine: Engine, asked: wire.AssistantCount) -> list[str]:
    names = [name for name in engine.intake.agents if asked.graph_id in (None, name)]
    return [] if asked.metadata else [name for name in names if (asked.name or "").lower() in name.lower()]


@router.get(f"{BASE}/assistants/{{assistant_id}}")
async def get_assistant(engine: EngineDep, owner: Owner, assistant_id: str) -> Response:
    """Get an agent."""
    return Json(_assistant(_known(engine, assistant_id)))


def _known(engine: Engine, assistant_id: str) -> str:
    if assistant_id not in engine.intake.agents:
        raise wire.AssistantNotFound
    return assistant_id


@router.post(f"{BASE}/assistants/{{assistant_id}}/versions")
async def list_versions(
    engine: EngineDep, owner: Owner, assistant_id: str, body: wire.VersionSearch | None = None
) -> Response:
    """List the versions of an agent: there is one."""
    asked, found = body or wire.VersionSearch(), [_assistant(_known(engine, assistant_id))]
    return Json([] if asked.metadata or asked.offset else found)


@router.get(f"{BASE}/assistants/{{assistant_id}}/schemas")
async def get_schemas(engine: EngineDep, owner: Owner, assistant_id: str) -> Response:
    """Get the schemas of an agent: all agents take messages, and have them as their state."""
    schemas = dict.fromkeys(("input_schema", "output_schema", "state_schema"), MESSAGES)
    empty = dict.fromkeys(("config_schema", "context_schema"), NO_SETTINGS)
    return Json({"graph_id": _known(engine, assistant_id), **schemas, **empty})


@router.get(f"{BASE}/assistants/{{assistant_id}}/graph")
async def get_graph(engine: EngineDep, owner: Owner, assistant_id: str) -> Response:
    """Get an agent as a graph of one node."""
    ends = [{"id": each, "type": "schema", "data": each} for each in ("__start__", "__end__")]
    node = {"id": _known(engine, assistant_id), "type": "runnable", "data": {"name": assistant_id}}
    edges = [{"source": "__start__", "target": assistant_id}, {"source": assistant_id, "target": "__end__"}]
    return Json({"nodes": [ends[0], node, ends[1]], "edges": edges})


@router.get(f"{BASE}/assistants/{{assistant_id}}/subgraphs")
async def get_subgraphs(engine: EngineDep, owner: Owner, assistant_id: str) -> Response:
    """List the subgraphs of an agent: it shows none."""
    _known(engine, assistant_id)
    return Json({})


# --- threads


@router.post(f"{BASE}/threads")
async def create_thread(
    engine: EngineDep, owner: Owner, key: Key = None, body: wire.NewThread | None = None
) -> Response:
    """Create a thread."""
    asked = body or wire.NewThread()
    if asked.ttl is not None:
        raise wire.Unsupported(TTL)
    first = _values_in(asked.supersteps)
    metadata = {name: value for name, value in (asked.metadata or {}).items() if value is not None}
    graph = metadata.get("graph_id")
    agent = graph if graph in engine.intake.agents else None
    if asked.thread_id is not None and asked.if_exists == "do_nothing":
        try:
            return Json(await shown_thread(engine, await find_thread(engine, owner, asked.thread_id)))
        except NotFound:
            pass  # it is created
    note = idempotency_key(owner, "POST /langgraph/threads", key, asked.model_dump())
    try:
        thread = await engine.intake.open_thread(owner, None, agent, note, asked.thread_id, metadata)
    except Conflict:
        if asked.if_exists != "do_nothing" or asked.thread_id is None:
            raise wire.ThreadExists from None
        thread = await find_thread(engine, owner, asked.thread_id)
    if first is not None and thread.head_run_id is None:
        await record(engine, thread, first, None)
        thread = await engine.views.thread(owner, thread.id)
    return Json(await shown_thread(engine, thread))


def _values_in(supersteps: list[wire.Superstep] | None) -> dict[str, Any] | None:
    """Return the messages of the states that a thread begins with. Raises an error if they cannot be recorded."""
    updates = [update for step in supersteps or () for update in step.updates]
    if not updates:
        return None
    if any(update.command is not None for update in updates):
        raise wire.Unsupported("This server does not support `command` in `supersteps`. Leave it out.")
    return {"messages": [message for update in updates for message in recorded(update.values, {})]}


@router.post(f"{BASE}/threads/count")
async def count_threads(engine: EngineDep, owner: Owner, body: wire.ThreadCount | None = None) -> Response:
    """Count the threads that fit."""
    return Json(await count(engine, owner, body or wire.ThreadCount()))


@router.post(f"{BASE}/threads/search")
async def search_threads(engine: EngineDep, owner: Owner, body: wire.ThreadSearch | None = None) -> Response:
    """List the threads that fit, the newest first unless `sort_order` is `asc`."""
    asked = body or wire.ThreadSearch()
    if asked.extract:
        raise wire.Unsupported("This server does not support `extract`. Leave it out.")
    return Json(await search(engine, owner, asked))


@router.get(THREAD)
async def get_thread(engine: EngineDep, owner: Owner, thread_id: str, include: str | None = None) -> Response:
    """Get a thread."""
    return Json(await shown_thread(engine, await find_thread(engine, owner, thread_id)))


@router.patch(THREAD, responses={204: {}})
async def change_thread(
    engine: EngineDep, owner: Owner, thread_id: str, request: Request, body: wire.ThreadChange
) -> Response:
    """Add values to the metadata of a thread."""
    if body.ttl is not None:
        raise wire.Unsupported(TTL)
    thread = await find_thread(engine, owner, thread_id)
    thread = await _with_metadata(engine, thread, body.metadata)
    if "return=minimal" in request.headers.get("prefer", ""):
        return Response(status_code=204)
    return Json(await shown_thread(engine, thread))


async def _with_metadata(engine: Engine, thread: Thread, metadata: dict[str, Any] | None) -> Thread:
    """Return the thread with these values added to its metadata."""
    if not metadata:
        return thread
    known = msgspec.json.decode(thread.metadata) if thread.metadata else {}
    return await engine.intake.change_thread(thread, {**known, **metadata})


@router.delete(THREAD, status_code=204)
async def delete_thread(engine: EngineDep, owner: Owner, thread_id: str) -> Response:
    """Cancel the runs of a thread that have not ended, and delete it with all its runs."""
    thread = await find_thread(engine, owner, thread_id)
    await cancel_all(engine, thread)
    await engine.views.delete_thread(owner, thread.id)
    return Response(status_code=204)


@router.post(f"{THREAD}/copy")
async def copy_thread(engine: EngineDep, owner: Owner, thread_id: str) -> Response:
    """Create a thread that continues from the end of this one."""
    thread = await find_thread(engine, owner, thread_id)
    if thread.head_run_id is None:
        made = await engine.intake.open_thread(owner, thread.user_id, thread.agent, metadata=metadata_of(thread, None))
    else:
        made = await engine.intake.fork(owner, thread, None)
    return Json(await shown_thread(engine, made))


@router.get(f"{THREAD}/state")
async def get_state(engine: EngineDep, owner: Owner, thread_id: str, request: Request) -> Response:
    """Get the present state of a thread: its messages, and what it waits for."""
    return Json(await state_at(engine, await find_thread(engine, owner, thread_id), None))


@router.post(f"{THREAD}/state")
async def update_state(engine: EngineDep, owner: Owner, thread_id: str, body: wire.StateUpdate) -> Response:
    """Add messages to a thread, after its last run or a checkpoint. No agent runs."""
    thread = await find_thread(engine, owner, thread_id)
    checkpoint = await record(engine, thread, body.values, body.checkpoint_name)
    return Json({"checkpoint": checkpoint_of(thread, checkpoint)})


@router.patch(f"{THREAD}/state")
async def change_state_metadata(engine: EngineDep, owner: Owner, thread_id: str, body: wire.StateMetadata) -> Response:
    """Add values to the metadata of a thread."""
    thread = await find_thread(engine, owner, thread_id)
    return Json(await shown_thread(engine, await _with_metadata(engine, thread, body.metadata)))


@router.get(f"{THREAD}/state/{{checkpoint_id}}")
async def get_state_at(
    engine: EngineDep, owner: Owner, thread_id: str, checkpoint_id: str, request: Request
) -> Response:
    """Get the state of a thread after one of its runs."""
    return Json(await state_at(engine, await find_thread(engine, owner, thread_id), checkpoint_id))


@router.post(f"{THREAD}/state/checkpoint")
async def find_state(engine: EngineDep, owner: Owner, thread_id: str, body: wire.StateAt) -> Response:
    """Get the state of a thread at a checkpoint."""
    thread = await find_thread(engine, owner, thread_id)
    return Json(await state_at(engine, thread, body.checkpoint.checkpoint_id or None))


@router.post(f"{THREAD}/history")
async def history(engine: EngineDep, owner: Owner, thread_id: str, body: wire.HistorySearch | None = None) -> Response:
    """List the states of a thread, the newest first: one for each run."""
    asked = body or wire.HistorySearch()
    thread = await find_thread(engine, owner, thread_id)
    limit = min(asked.limit, wire.MOST_ROWS)
    runs = await branch(engine, thread, _checkpoint_in(asked.before), MOST_RUNS if asked.metadata else limit)
    found = [run for run in runs if await has_metadata(engine, run, asked.metadata)][:limit]
    return Json([await state_after(engine, thread, run) for run in found])


def _checkpoint_in(before: Any) -> str | None:
    """Return the id of a checkpoint that a client gives as an id, a checkpoint or a config."""
    if isinstance(before, wire.Checkpoint):
        return before.checkpoint_id
    if isinstance(before, dict):
        inside = before.get("configurable")
        found = (inside if isinstance(inside, dict) else before).get("checkpoint_id")
        return found if isinstance(found, str) else None
    return before if isinstance(before, str) else None
