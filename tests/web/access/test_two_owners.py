"""Every route of the document, called by Bob with ids of Ann's objects: he reads and changes none of them.

`TABLE` has a row for every operation of `/openapi.json`. A route that is not in it fails the test: say there how
another owner's request with Ann's ids is answered.
"""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from runyard.domain.runs.run import Run
from runyard.engine.channels.agent_directory import AgentDirectory
from runyard.errors import NotFound
from runyard.stores.memory import MemoryStore
from tests.support.in_process.live_server import Serve
from tests.web.access.every_route import ENDLESS
from tests.web.access.two_owners import MARKER, Person, app, belongings, move_in
from tests.web.access.two_owners_langgraph import LANGGRAPH
from tests.web.access.two_owners_sharing import SHARING
from tests.web.access.two_owners_table import TABLE as OTHERS
from tests.web.access.two_owners_table import Try
from tests.web.responses.test_problems import MEMORY

TABLE = {**OTHERS, **LANGGRAPH, **SHARING}


@pytest.mark.untraced
async def test_no_route_gives_one_owner_anything_of_another_or_changes_it(serve: Serve) -> None:
    await walk(serve)


async def walk(serve: Serve) -> None:
    server = await serve(app(), keys=True, share_links=True, group_pause_min_seconds=0, group_pause_max_seconds=0)
    ann, bob = await Person.called(server, "ann"), await Person.called(server, "bob")
    document = (await bob.ask("GET", "/openapi.json")).json()
    assert {f"{method.upper()} {path}" for path, found in document["paths"].items() for method in found} == set(TABLE)
    ids = {f"<{name}>": each for name, each in (await move_in(ann)).items()}
    before = await belongings(ann, {name.strip("<>"): each for name, each in ids.items()})
    own = await _own(bob)
    for operation, tries in TABLE.items():
        for one in tries:
            await _refused(bob, operation, one, {**ids, **own})
    stream = await bob.until("/api/sse", "agent_done", **{"last-event-id": "0"})
    assert MARKER.encode() not in stream.body
    assert await belongings(ann, {name.strip("<>"): each for name, each in ids.items()}) == before


async def _own(bob: Person) -> dict[str, str]:
    """The ids of Bob's objects, for requests that also name Ann's."""
    dm = await bob.make("/api/dms", {"agentId": "clerk"})
    await bob.make("/api/messages", {"dmConversationId": dm, "text": "hello"})
    agent = await bob.make("/api/agents", {"id": "bobs-agent", "modelId": "fake/model"})
    block = await bob.ask("PUT", f"/api/agents/{agent}/memory/own", json={"content": "of bob", "isShared": True})
    assert block.status_code == 200
    return {
        "<own agent>": agent,
        "<own thread>": await bob.make("/api/threads", {}, "thread_id"),
        "<own channel>": await bob.make("/api/channels", {"name": "bobs", "kind": "private"}),
    }


async def _refused(bob: Person, operation: str, one: Try, ids: Mapping[str, str]) -> None:
    method, _, template = operation.partition(" ")
    sent = _filled({"path": one.path, "query": one.query, "body": one.body, "headers": one.headers}, ids)
    path = re.sub(r"{(\w+)}", lambda found: sent["path"][found[1]], template)
    more: dict[str, Any] = {"params": sent["query"], "headers": sent["headers"]}
    if sent["body"] is not None:
        more["json"] = sent["body"]
    answer = await bob.ask(method, path, **more)
    told = f"{operation} {one}: {answer.status_code}"
    assert answer.status_code == one.status, told
    if template in ENDLESS:
        return
    shown = f"{answer.headers} {answer.text}"
    assert MARKER not in shown.replace(f"query={MARKER}", ""), told
    asked = str(sent) + path
    leaked = [name for name, each in ids.items() if not name.startswith("<own") and each in shown and each not in asked]
    assert leaked == [], told


def _filled(given: Any, ids: Mapping[str, str]) -> Any:
    match given:
        case str():
            return ids[given] if given.startswith("<") else given
        case dict():
            return {_filled(name, ids): _filled(value, ids) for name, value in given.items()}
        case list():
            return [_filled(value, ids) for value in given]
        case _:
            return given


def _one_memory(self: AgentDirectory, agent: str, owner: str) -> str:
    return ""


async def _any_run(self: MemoryStore, owner: str, run_id: str) -> Run:
    if run_id not in self._runs:
        raise NotFound
    return self._runs[run_id]


@MEMORY
@pytest.mark.parametrize(
    ("where", "name", "leak"),
    [(AgentDirectory, "memory_owner", _one_memory), (MemoryStore, "get_run", _any_run)],
    ids=["memory of all owners in one", "runs without a look at whose they are"],
)
async def test_the_walk_finds_a_leak(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, where: type, name: str, leak: Any
) -> None:
    monkeypatch.setattr(where, name, leak)
    with pytest.raises(AssertionError, match="/api/"):
        await walk(serve)
