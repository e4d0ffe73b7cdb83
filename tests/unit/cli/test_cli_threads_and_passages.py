"""The list of threads tells their newest activity, and pages of passages that join two memories have no gaps."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from runyard.base.ids import first_id_at
from runyard.cli.clients.local_conversations import LocalConversations
from runyard.cli.clients.short_ids import find_passage
from runyard.cli.terminal import conversation_tables, text
from runyard.client.wire import ThreadInfo
from runyard.domain.content.memory import EVERY_OWNER, Passage

MINUTE = 60_000


def test_a_fork_is_as_active_as_its_creation_if_its_newest_run_is_older(monkeypatch: pytest.MonkeyPatch) -> None:
    at = 1_700_000_000_000
    old, new = first_id_at(at), first_id_at(at + 3 * MINUTE)
    now = datetime.fromtimestamp((at + 8 * MINUTE) / 1000, UTC)
    monkeypatch.setattr(text, "now", lambda: now)
    for thread, head in ((new, old), (old, new), (new, None)):
        table = conversation_tables.threads_table(
            [ThreadInfo(thread_id=thread, created_at=now.isoformat(), head_run_id=head)]
        )
        assert "  5 min " in table.lines(200)[-1]


def passage(number: int, owner: str) -> Passage:
    known_id = f"01a1e52c-90ef-716f-aa47-{number:012}"
    return Passage(id=known_id, agent="clerk", owner=owner, content=str(number), created_at=number)


class Memories:
    """As much of a store as lists of passages need."""

    def __init__(self, *passages: Passage) -> None:
        self._newest_first = sorted(passages, key=lambda each: each.id, reverse=True)

    async def passages(self, agent: str, owner: str, before: str | None, limit: int) -> list[Passage]:
        found = [each for each in self._newest_first if each.owner == owner and (before is None or each.id < before)]
        return found[:limit]


class Client(LocalConversations):
    def __init__(self, store: Any) -> None:
        self._store = store

    def _owner(self, scope: str) -> str:
        return "ann"

    async def agent(self, agent_id: str) -> Any:
        return SimpleNamespace(id=agent_id)


async def test_passages_of_two_memories_are_listed_newest_first_and_all_are_found() -> None:
    every = [passage(number, "ann" if number % 3 else EVERY_OWNER) for number in range(250)]
    client: Any = Client(Memories(*every))
    assert [each.content for each in await client.passages("clerk", limit=4)] == ["249", "248", "247", "246"]
    for each in every:
        assert (await find_passage(client, "clerk", each.id)).content == each.content
