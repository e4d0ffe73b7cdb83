"""The routes of agents, their memory and their prompt."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from runyard.domain.memory import Block, Passage
from runyard.domain.profile import Profile
from runyard.engine.engine import Engine
from runyard.engine.queries.views import position
from runyard.errors import BadRequest
from runyard.faces.channels import translate, wire
from runyard.web.auth import Operates, Owner
from runyard.web.responses import Json

Limit = Annotated[int, Query(ge=1, le=100)]
# What a field of this face is called inside.
FIELDS = {
    "displayName": "display_name",
    "title": "title",
    "avatarColor": "avatar_color",
    "systemPrompt": "persona",
    "modelId": "model",
    "maxTurns": "max_turns",
    "maxBudgetUsd": "max_usd",
    "isActive": "is_active",
}


def add_routes(router: APIRouter, engine: Engine, tag: str) -> None:
    _add_agents(router, engine, tag)
    _add_blocks(router, engine, tag)
    _add_passages(router, engine, tag)


def _add_agents(router: APIRouter, engine: Engine, tag: str) -> None:
    agent_directory = engine.agent_directory

    @router.post("/api/agents", status_code=201, response_model=wire.AgentSeen, tags=[tag], summary="Make an agent")
    async def create_agent(owner: Owner, body: wire.NewAgent) -> Response:
        given = {FIELDS[name]: value for name, value in body.model_dump(exclude={"id"}).items()}
        given["display_name"] = given["display_name"] or body.id
        return Json(_agent(await agent_directory.create(owner, body.id, **given)), 201)

    @router.get("/api/agents", response_model=wire.AgentPage, tags=[tag], summary="Agents, by id")
    async def list_agents(
        owner: Owner, after: str | None = None, limit: Limit = 50, inactive: bool = False
    ) -> Response:
        page = await agent_directory.page(owner, after, limit, inactive)
        follows = page[-1].id if len(page) == limit else None
        return Json(wire.AgentPage(agents=[_agent(each) for each in page], next=follows))

    @router.get("/api/agents/{agent_id}", response_model=wire.AgentSeen, tags=[tag], summary="An agent")
    async def get_agent(owner: Owner, agent_id: str) -> Response:
        return Json(_agent(await agent_directory.get(owner, agent_id)))

    @router.patch("/api/agents/{agent_id}", response_model=wire.AgentSeen, tags=[tag], summary="Change an agent")
    async def change_agent(owner: Owner, operates: Operates, agent_id: str, body: wire.AgentChange) -> Response:
        changes = {FIELDS[name]: value for name, value in body.model_dump(exclude_none=True).items()}
        return Json(_agent(await agent_directory.change(owner, agent_id, operates=operates, **changes)))

    @router.delete(
        "/api/agents/{agent_id}", status_code=204, tags=[tag], summary="Retire an agent; what it did and knows stays"
    )
    async def delete_agent(owner: Owner, operates: Operates, agent_id: str) -> Response:
        await agent_directory.retire(owner, agent_id, operates=operates)
        return Response(status_code=204)

    @router.get(
        "/api/agents/{agent_id}/prompt",
        response_model=wire.PromptSeen,
        tags=[tag],
        summary="The prompt that an agent would get now",
    )
    async def get_prompt(
        owner: Owner,
        agent_id: str,
        channelId: str | None = None,  # noqa: N803
        dmConversationId: str | None = None,  # noqa: N803
    ) -> Response:
        if channelId is not None and dmConversationId is not None:
            raise BadRequest("Give channelId or dmConversationId, not both.")
        prompt = await agent_directory.preview(owner, agent_id, channelId or dmConversationId)
        return Json(wire.PromptSeen(systemPrompt=prompt.text, persona=prompt.persona))


def _add_blocks(router: APIRouter, engine: Engine, tag: str) -> None:
    agent_directory = engine.agent_directory

    @router.get(
        "/api/agents/{agent_id}/memory", response_model=wire.MemorySeen, tags=[tag], summary="What is in its prompt"
    )
    async def get_memory(owner: Owner, agent_id: str) -> Response:
        return Json(wire.MemorySeen(blocks=[_block(each) for each in await agent_directory.blocks(owner, agent_id)]))

    @router.put(
        "/api/agents/{agent_id}/memory/{label}", response_model=wire.BlockSeen, tags=[tag], summary="Set a block"
    )
    async def put_block(owner: Owner, agent_id: str, label: wire.Label, body: wire.BlockChange) -> Response:
        return Json(_block(await agent_directory.remember(owner, agent_id, label, body.content, body.isShared)))

    @router.delete("/api/agents/{agent_id}/memory/{label}", status_code=204, tags=[tag], summary="Forget a block")
    async def drop_block(owner: Owner, agent_id: str, label: wire.Label) -> Response:
        await agent_directory.forget(owner, agent_id, label)
        return Response(status_code=204)

    @router.put(
        "/api/agents/{agent_id}/memory/{label}/readers/{reader_id}",
        status_code=204,
        tags=[tag],
        summary="Let another agent read a shared block",
    )
    async def link_block(owner: Owner, agent_id: str, label: wire.Label, reader_id: wire.Id) -> Response:
        await agent_directory.link(owner, agent_id, label, reader_id)
        return Response(status_code=204)

    @router.delete(
        "/api/agents/{agent_id}/memory/{label}/readers/{reader_id}",
        status_code=204,
        tags=[tag],
        summary="No longer let another agent read a block",
    )
    async def unlink_block(owner: Owner, agent_id: str, label: wire.Label, reader_id: wire.Id) -> Response:
        await agent_directory.unlink(owner, agent_id, label, reader_id)
        return Response(status_code=204)


def _add_passages(router: APIRouter, engine: Engine, tag: str) -> None:
    agent_directory = engine.agent_directory

    @router.get(
        "/api/agents/{agent_id}/passages",
        response_model=wire.PassagePage,
        tags=[tag],
        summary="What it has put away, newest first; or what fits a query, best first",
    )
    async def list_passages(
        owner: Owner, agent_id: str, query: str | None = None, before: str | None = None, limit: Limit = 50
    ) -> Response:
        page = await agent_directory.passages(owner, agent_id, query, position(before), limit)
        return Json(wire.PassagePage(passages=[_passage(each) for each in page]))

    @router.post(
        "/api/agents/{agent_id}/passages",
        status_code=201,
        response_model=wire.PassageSeen,
        tags=[tag],
        summary="Put something away for it",
    )
    async def put_passage(owner: Owner, agent_id: str, body: wire.NewPassage) -> Response:
        return Json(_passage(await agent_directory.put_away(owner, agent_id, body.content, body.tags)), 201)

    @router.delete(
        "/api/agents/{agent_id}/passages/{passage_id}", status_code=204, tags=[tag], summary="Forget a passage"
    )
    async def drop_passage(owner: Owner, agent_id: str, passage_id: str) -> Response:
        await agent_directory.drop(owner, agent_id, passage_id)
        return Response(status_code=204)


def _agent(profile: Profile) -> wire.AgentSeen:
    shown = {name: getattr(profile, field) for name, field in FIELDS.items()}
    return wire.AgentSeen(
        id=profile.id,
        isDeclared=profile.owner is None,
        createdAt=translate.iso(profile.created_at),
        updatedAt=translate.iso(profile.updated_at),
        **shown,
    )


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
