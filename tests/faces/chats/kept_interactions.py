"""Interactions for tests of checkpoints, and their files."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from runyard.checkpoints.store import InteractionStore
from runyard.domain.api_key import LOCAL
from runyard.errors import NotFound
from runyard.faces.chats.wire import AgentState, AnswerEvent, Interaction, InteractionStatus
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Server


def store_of(server: Server) -> InteractionStore:
    return server.process.interaction_stores(LOCAL)


async def saved(server: Server, chat: str, interaction: str) -> Interaction:
    async def found() -> Interaction | None:
        with suppress(NotFound):
            return await store_of(server).load_interaction(chat, interaction)
        return None

    kept: Interaction = await eventually("the checkpoint is written", found)
    return kept


def drafts(folder: Path) -> list[Path]:
    return list(folder.rglob(".*"))


def an_interaction(n: int, parent: Interaction | None = None, **more: Any) -> Interaction:
    fields: dict[str, Any] = {
        "id": f"int_{n:03d}",
        "status": InteractionStatus.COMPLETED,
        "user_message": f"Grüße {n}",
        "agent_events": [AnswerEvent(content="a\u2028b")],
        "final_agent_state": AgentState(messages=[{"role": "user", "content": f"Grüße {n}"}]),
        "created_at": f"2026-01-15T10:00:0{n}.000Z",
        "completed_at": f"2026-01-15T10:00:0{n}.500Z",
        "parent_id": parent.id if parent else None,
    }
    return Interaction(**{**fields, **more})
