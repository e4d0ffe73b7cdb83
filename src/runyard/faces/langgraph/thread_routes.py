"""The routes of threads and assistants for LangGraph's SDKs. Assistants are agents; clients cannot change them."""

from importlib.metadata import version
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.conversations.thread import Thread
from runyard.engine.engine import Engine
from runyard.engine.intake.intake import idempotency_key
from runyard.errors import Conflict, NotFound
from runyard.faces.langgraph import wire
from runyard.faces.langgraph.start import FACE, find_thread
from runyard.faces.langgraph.threads import (
    branch,
    cancel_all,
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
TTL = "This server does not support `ttl` and `supersteps`. Leave them out; set a retention for the server."
SETTINGS = (
    "This server has one assistant for each agent, with the settings of the agent. Send `graph_id` alone, or "
    "`if_exists: do_nothing` to use the agent as it is."
)
UPDATE_STATE = (
    "This server cannot update the state of a thread: it is made from the logs of its runs. To change a message, start "
    "a run with another one and the checkpoint before it. To have a question asked again, start a run without an input "
    "from the checkpoint before it."
)

router = Router(FACE)


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
    names = [name for name in engine.intake.agents if asked.graph_id in (None, name)]
    names = [] if asked.metadata else [name for name in names if (asked.name or "").lower() in name.lower()]
    end = asked.offset + min(asked.limit, wire.MOST_ROWS)
    found = [_assistant(name) for name in names[asked.offset : end]]
    if asked.select is not None:
        found = [{name: each[name] for name in asked.select if name in each} for each in found]
    return Json(found, headers={"X-Pagination-Next": str(end)} if end < len(names) else None)


@router.get(f"{BASE}/assistants/{{assistant_id}}")
async def get_assistant(engine: EngineDep, owner: Owner, assistant_id: str) -> Response:
    """Get an agent."""
    if assistant_id not in engine.intake.agents:
        raise wire.AssistantNotFound
    return Json(_assistant(assistant_id))


# --- threads


@router.post(f"{BASE}/threads")
async def create_thread(
    engine: EngineDep, owner: Owner, key: Key = None, body: wire.NewThread | None = None
) -> Response:
    """Create a thread."""
    asked = body or wire.NewThread()
    if asked.ttl is not None or asked.supersteps is not None:
        raise wire.Unsupported(TTL)
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
    return Json(await shown_thread(engine, thread))


@router.post(f"{BASE}/threads/search")
async def search_threads(engine: EngineDep, owner: Owner, body: wire.ThreadSearch | None = None) -> Response:
    """List the threads that fit, the newest first unless `sort_order` is `asc`."""
    asked = body or wire.ThreadSearch()
    if asked.values or asked.extract:
        raise wire.Unsupported("This server cannot search by `values` and `extract`.")
    return Json(await search(engine, owner, asked))


@router.get(THREAD)
async def get_thread(engine: EngineDep, owner: Owner, thread_id: str, include: str | None = None) -> Response:
    """Get a thread."""
    return Json(await shown_thread(engine, await find_thread(engine, owner, thread_id)))


@router.patch(THREAD)
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
    """Refused: the state of an agent is made from its log."""
    await find_thread(engine, owner, thread_id)
    raise wire.Unsupported(UPDATE_STATE)


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
    runs = await branch(engine, thread, _checkpoint_in(asked.before), min(asked.limit, wire.MOST_ROWS))
    return Json([await state_after(engine, thread, run) for run in runs])


def _checkpoint_in(before: Any) -> str | None:
    """Return the id of a checkpoint that a client gives as an id, a checkpoint or a config."""
    if isinstance(before, wire.Checkpoint):
        return before.checkpoint_id
    if isinstance(before, dict):
        inside = before.get("configurable")
        found = (inside if isinstance(inside, dict) else before).get("checkpoint_id")
        return found if isinstance(found, str) else None
    return before if isinstance(before, str) else None
