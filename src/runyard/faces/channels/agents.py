"""The routes of agents and their prompts."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from runyard.domain.content.profile import Profile
from runyard.engine.engine import Engine
from runyard.errors import BadRequest
from runyard.faces.channels import translate, wire
from runyard.web.auth import Operates, Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

Limit = Annotated[int, Query(ge=1, le=100)]
# The field of a profile for each field of this face.
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

router = Router("channels")


@router.post("/api/agents", status_code=201, response_model=wire.AgentSeen)
async def create_agent(engine: EngineDep, owner: Owner, body: wire.NewAgent) -> Response:
    """Create an agent."""
    given = {FIELDS[name]: value for name, value in body.model_dump(exclude={"id"}).items()}
    given["display_name"] = given["display_name"] or body.id
    return Json(_agent(engine, await engine.agent_directory.create(owner, body.id, **given)), 201)


@router.get("/api/agents", response_model=wire.AgentPage)
async def list_agents(
    engine: EngineDep, owner: Owner, after: str | None = None, limit: Limit = 50, inactive: bool = False
) -> Response:
    """List agents by id."""
    page = await engine.agent_directory.page(owner, after, limit, inactive)
    follows = page[-1].id if len(page) == limit else None
    return Json(wire.AgentPage(agents=[_agent(engine, each) for each in page], next=follows))


@router.get("/api/agents/{agent_id}", response_model=wire.AgentSeen)
async def get_agent(engine: EngineDep, owner: Owner, agent_id: str) -> Response:
    """Get an agent."""
    return Json(_agent(engine, await engine.agent_directory.get(owner, agent_id)))


@router.patch("/api/agents/{agent_id}", response_model=wire.AgentSeen)
async def change_agent(
    engine: EngineDep, owner: Owner, operates: Operates, agent_id: str, body: wire.AgentChange
) -> Response:
    """Change an agent."""
    changes = {FIELDS[name]: value for name, value in body.model_dump(exclude_none=True).items()}
    return Json(_agent(engine, await engine.agent_directory.change(owner, agent_id, operates=operates, **changes)))


@router.delete("/api/agents/{agent_id}", status_code=204)
async def delete_agent(engine: EngineDep, owner: Owner, operates: Operates, agent_id: str) -> Response:
    """Deactivate an agent; its messages, runs and memory stay."""
    await engine.agent_directory.retire(owner, agent_id, operates=operates)
    return Response(status_code=204)


@router.get("/api/agents/{agent_id}/prompt", response_model=wire.PromptSeen)
async def get_prompt(
    engine: EngineDep,
    owner: Owner,
    agent_id: str,
    channelId: str | None = None,  # noqa: N803
    dmConversationId: str | None = None,  # noqa: N803
) -> Response:
    """Preview the prompt that an agent would get now."""
    if channelId is not None and dmConversationId is not None:
        raise BadRequest("Both channelId and dmConversationId are given. Give one of them.")
    prompt = await engine.agent_directory.preview(owner, agent_id, channelId or dmConversationId)
    return Json(wire.PromptSeen(systemPrompt=prompt.text, persona=prompt.persona))


def _agent(engine: Engine, profile: Profile) -> wire.AgentSeen:
    directory = engine.agent_directory
    shown = {name: getattr(profile, field) for name, field in FIELDS.items()}
    return wire.AgentSeen(
        id=profile.id,
        isDeclared=profile.owner is None,
        description=directory.description(profile.id),
        samples=list(directory.samples(profile.id)),
        canChat=directory.can_chat(profile.id),
        isDefault=profile.id == directory.default,
        createdAt=translate.iso(profile.created_at),
        updatedAt=translate.iso(profile.updated_at),
        **shown,
    )
