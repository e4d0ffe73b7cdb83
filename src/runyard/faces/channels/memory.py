"""The routes of an agent's memory: blocks, which are part of its prompt, and passages, which it searches."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from runyard.domain.content.memory import Block, Passage
from runyard.engine.queries.views import checked_cursor
from runyard.faces.channels import translate, wire
from runyard.web.auth import Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

Limit = Annotated[int, Query(ge=1, le=100)]

router = Router("channels")


@router.get("/api/agents/{agent_id}/memory", response_model=wire.MemorySeen)
async def get_memory(engine: EngineDep, owner: Owner, agent_id: str) -> Response:
    """List the memory blocks in an agent's prompt."""
    blocks = await engine.agent_directory.blocks(owner, agent_id)
    return Json(wire.MemorySeen(blocks=[_block(each) for each in blocks]))


@router.put("/api/agents/{agent_id}/memory/{label}", response_model=wire.BlockSeen)
async def put_block(
    engine: EngineDep, owner: Owner, agent_id: str, label: wire.Label, body: wire.BlockChange
) -> Response:
    """Write a memory block."""
    return Json(_block(await engine.agent_directory.set_block(owner, agent_id, label, body.content, body.isShared)))


@router.delete("/api/agents/{agent_id}/memory/{label}", status_code=204)
async def drop_block(engine: EngineDep, owner: Owner, agent_id: str, label: wire.Label) -> Response:
    """Delete a memory block."""
    await engine.agent_directory.delete_block(owner, agent_id, label)
    return Response(status_code=204)


@router.put("/api/agents/{agent_id}/memory/{label}/readers/{reader_id}", status_code=204)
async def link_block(engine: EngineDep, owner: Owner, agent_id: str, label: wire.Label, reader_id: wire.Id) -> Response:
    """Let another agent read a shared block."""
    await engine.agent_directory.link(owner, agent_id, label, reader_id)
    return Response(status_code=204)


@router.delete("/api/agents/{agent_id}/memory/{label}/readers/{reader_id}", status_code=204)
async def unlink_block(
    engine: EngineDep, owner: Owner, agent_id: str, label: wire.Label, reader_id: wire.Id
) -> Response:
    """Stop another agent from reading a block."""
    await engine.agent_directory.unlink(owner, agent_id, label, reader_id)
    return Response(status_code=204)


@router.get("/api/agents/{agent_id}/passages", response_model=wire.PassagePage)
async def list_passages(
    engine: EngineDep,
    owner: Owner,
    agent_id: str,
    query: str | None = None,
    before: str | None = None,
    limit: Limit = 50,
) -> Response:
    """List an agent's passages, newest first; with `query`, the best matches first."""
    page = await engine.agent_directory.passages(owner, agent_id, query, checked_cursor(before), limit)
    return Json(wire.PassagePage(passages=[_passage(each) for each in page]))


@router.post("/api/agents/{agent_id}/passages", status_code=201, response_model=wire.PassageSeen)
async def put_passage(engine: EngineDep, owner: Owner, agent_id: str, body: wire.NewPassage) -> Response:
    """Add a passage to an agent's memory."""
    return Json(_passage(await engine.agent_directory.add_passage(owner, agent_id, body.content, body.tags)), 201)


@router.delete("/api/agents/{agent_id}/passages/{passage_id}", status_code=204)
async def drop_passage(engine: EngineDep, owner: Owner, agent_id: str, passage_id: str) -> Response:
    """Delete a passage."""
    await engine.agent_directory.delete_passage(owner, agent_id, passage_id)
    return Response(status_code=204)


def _block(block: Block) -> wire.BlockSeen:
    return wire.BlockSeen(
        label=block.label,
        content=block.content,
        isShared=block.is_shared,
        ownerId=block.agent,
        updatedAt=translate.iso(block.updated_at),
    )


def _passage(passage: Passage) -> wire.PassageSeen:
    return wire.PassageSeen(
        id=passage.id,
        content=passage.content,
        tags=list(passage.tags),
        createdAt=translate.iso(passage.created_at),
    )
