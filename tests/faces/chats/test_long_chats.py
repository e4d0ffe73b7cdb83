"""Long chats: stored and sent data grows linearly with the conversation, in bounded pieces."""

from typing import Any

import pytest

from runyard.faces.chats import interaction_builder as module
from runyard.faces.chats.interaction_builder import InteractionBuilder, json_of
from tests.faces.chats.chats_client import Chat, chat_agents, interaction_of
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server

TURNS, SIZE = 8, 20_000


@pytest.fixture(params=["database", "files"])
async def long(request: pytest.FixtureRequest, serve: Serve, gate: Gate) -> Chat:
    """A chat of so many turns of so many bytes, with all its checkpoints."""
    server = await serve(chat_agents(gate), checkpoints=request.param)
    chat = Chat(server)
    for turn in range(TURNS):
        await chat.say(f"{turn}" * SIZE)
    await eventually("all checkpoints are written", lambda: _saved(server))
    return chat


async def _saved(server: Server) -> bool:
    return not await server.store.runs_without_checkpoint(1)


def sizes(interactions: list[dict[str, Any]]) -> list[int]:
    return [len(str(each)) for each in interactions]


async def test_every_message_is_stored_and_sent_once(long: Chat) -> None:
    stored = (await long.server.process.interaction_stores("local").load_chat(long.id)).interactions
    kept = [len(each.model_dump_json()) for each in stored]
    assert max(kept) < 1.1 * kept[0], "the last checkpoint is no larger than the first"
    answer = await long.server.http.get(long.path)
    assert len(answer.content) < 1.1 * TURNS * kept[0]
    found = answer.json()["interactions"]
    assert [each["final_agent_state"].get("after") for each in found] == [None, *(each["id"] for each in found[:-1])]


async def test_one_interaction_has_the_whole_state_and_is_sent_piece_by_piece(long: Chat) -> None:
    last = (await long.whole())["interactions"][-1]
    whole = (await long.look(last["id"]))["final_agent_state"]["messages"]
    assert [message["content"][:1] for message in whole if message["role"] == "user"] == [str(n) for n in range(TURNS)]
    process = long.server.process
    run = await process.engine.views.run("local", last["id"].removeprefix("int_"))
    interactions = InteractionBuilder(process.engine)
    pieces = [piece async for piece in json_of(interactions, run, await interactions.of_run(run))]
    assert len(pieces) > TURNS
    assert max(map(len, pieces)) < 5 * SIZE, "no piece holds more than one interaction"


@pytest.mark.parametrize("by", ["count", "bytes"])
async def test_a_chat_is_read_in_bounded_pages_from_the_newest_to_the_first(
    long: Chat, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    all_of_it = (await long.whole())["interactions"]
    if by == "bytes":
        monkeypatch.setattr(module, "PAGE_BYTES", 3 * SIZE)
    query: dict[str, Any] = {"limit": 3} if by == "count" else {}
    pages = [await long.whole(**query)]
    while pages[-1]["next"] is not None:
        pages.append(await long.whole(**query, before=pages[-1]["next"]))
    assert [each for page in reversed(pages) for each in page["interactions"]] == all_of_it
    assert len(pages) >= 3
    assert max(sum(sizes(page["interactions"])) for page in pages) < sum(sizes(all_of_it)) / 2


async def test_the_pages_of_a_forked_chat_go_on_in_the_one_that_it_was_forked_from(server: Server) -> None:
    old = Chat(server, "old")
    ids = [interaction_of(await old.say(text)) for text in ("one", "two", "three")]
    run = await server.process.engine.views.run("local", ids[1].removeprefix("int_"))
    answer = await server.http.post(f"/api/threads/{run.thread_id}/fork", json={"run_id": run.id})
    assert answer.status_code == 201, answer.text
    fork = Chat(server, answer.json()["thread_id"])
    for text in ("four", "five"):
        await fork.say(text)
    pages = [await fork.whole(limit=1)]
    while pages[-1]["next"] is not None:
        pages.append(await fork.whole(limit=1, before=pages[-1]["next"]))
    assert [page["interactions"][0]["user_message"] for page in pages] == ["five", "four", "two", "one"]
    newest = (await fork.look(pages[0]["interactions"][0]["id"]))["final_agent_state"]["messages"]
    assert [each["content"] for each in newest if each["role"] == "user"] == ["one", "two", "four", "five"]
    await eventually("all checkpoints are written", lambda: _saved(server))
    assert (await fork.look(pages[0]["interactions"][0]["id"]))["final_agent_state"]["messages"] == newest


@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize("query", [{"before": "x"}, {"before": "int_nope"}, {"limit": 0}, {"limit": 201}])
async def test_an_invalid_position_is_refused(chat: Chat, query: dict[str, Any]) -> None:
    await chat.say()
    assert (await chat.server.http.get(chat.path, params=query)).status_code == 422


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_position_in_another_chat_is_refused(chat: Chat) -> None:
    other = interaction_of(await Chat(chat.server, "other").say())
    await chat.say()
    assert (await chat.server.http.get(chat.path, params={"before": other})).status_code == 422
