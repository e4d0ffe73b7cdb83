"""Every ended interaction has one checkpoint, in either store; a failing store loses none."""

import json
import os
import time
from pathlib import Path

import pytest

from runyard.checkpoints.file_store import FileInteractionStore
from runyard.domain.api_key import LOCAL
from runyard.domain.runs.run import Status
from runyard.errors import NotFound
from runyard.faces.chats.wire import Chat as ChatModel
from runyard.faces.chats.wire import Interaction
from tests.faces.chats.chats_client import Chat, chat_agents, interaction_of
from tests.faces.chats.kept_interactions import an_interaction, drafts, saved, store_of
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server

FIELDS = ["id", "status", "user_message", "agent_events", "final_agent_state", "created_at", "completed_at"]


@pytest.fixture(params=["database", "files"])
async def checkpointed(request: pytest.FixtureRequest, serve: Serve, gate: Gate) -> Server:
    """A server that keeps checkpoints there."""
    return await serve(chat_agents(gate), checkpoints=request.param)


def modes(folder: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in folder.rglob("*.json")}


@pytest.mark.req("S1.38", "S1.34", "S1.31")
async def test_either_store_gives_back_what_the_face_shows(checkpointed: Server) -> None:
    chat = Chat(checkpointed)
    ids = [interaction_of(await chat.say(text)) for text in ("one", "two")]
    first, second = [await saved(checkpointed, chat.id, each) for each in ids]
    whole = ChatModel.model_validate(await chat.whole())
    assert [first, second] == [Interaction.model_validate(await chat.look(each)) for each in ids]
    loaded = await store_of(checkpointed).load_chat(chat.id)
    assert loaded.interactions == whole.interactions
    assert loaded.id == chat.id
    assert await store_of(checkpointed).get_previous_state(chat.id, first.id) is None
    assert await store_of(checkpointed).get_previous_state(chat.id, second.id) == first.final_agent_state


@pytest.mark.req("S1.38")
@pytest.mark.parametrize("backend", ["memory"])
async def test_either_store_says_what_it_does_not_know(checkpointed: Server) -> None:
    chat = Chat(checkpointed)
    known = interaction_of(await chat.say())
    await saved(checkpointed, chat.id, known)
    store = store_of(checkpointed)
    for chat_id, interaction in (("nope", known), (chat.id, "int_001"), ("../x", known), (chat.id, "../../x")):
        with pytest.raises(NotFound):
            await store.load_interaction(chat_id, interaction)
        with pytest.raises(NotFound):
            await store.get_previous_state(chat_id, interaction)
    for chat_id in ("nope", "..", "a/b"):
        with pytest.raises(NotFound):
            await store.load_chat(chat_id)


@pytest.mark.req("S1.28", "S1.35", "S1.26", "S1.42")
async def test_every_end_has_its_checkpoint(checkpointed: Server, gate: Gate) -> None:
    chat = Chat(checkpointed)
    done = interaction_of(await chat.say())
    failed = interaction_of(await chat.say("x", "broken"))
    stream = await chat.start("y", "gated")
    await gate.until_reached()
    queued = await chat.start("z", "gated")
    for each in (queued, stream):
        await chat.cancel(interaction_of(each))
        await each.to_end()
    waiting, _ = await chat.start_waiting()
    await chat.cancel(interaction_of(waiting))
    await waiting.to_end()
    expected = {
        done: "COMPLETED",
        failed: "FAILED",
        interaction_of(stream): "CANCELLED",
        interaction_of(queued): "CANCELLED",
        interaction_of(waiting): "CANCELLED",
    }
    for interaction, status in expected.items():
        assert (await saved(checkpointed, chat.id, interaction)).status == status


@pytest.mark.req("S1.35")
async def test_there_is_none_while_an_interaction_runs(checkpointed: Server, gate: Gate) -> None:
    chat = Chat(checkpointed)
    stream = await chat.start("hello", "gated")
    await gate.until_reached()
    assert await checkpointed.process.checkpoints.round() == 0
    with pytest.raises(NotFound):
        await store_of(checkpointed).load_interaction(chat.id, interaction_of(stream))
    gate.open.set()
    await stream.to_end()
    await saved(checkpointed, chat.id, interaction_of(stream))


async def test_an_edit_is_told_to_the_copies_too(checkpointed: Server) -> None:
    chat = Chat(checkpointed)
    first = interaction_of(await chat.say("one"))
    await saved(checkpointed, chat.id, first)
    second = interaction_of(await chat.edit(first, "two"))

    async def is_told() -> bool:
        return (await store_of(checkpointed).load_interaction(chat.id, first)).superseded_by == second

    await eventually("the copy tells what took its place", is_told)


async def test_a_deleted_chat_leaves_no_copy(checkpointed: Server) -> None:
    chat = Chat(checkpointed)
    interaction = interaction_of(await chat.say())
    await saved(checkpointed, chat.id, interaction)
    await checkpointed.http.delete(chat.path)
    await checkpointed.process.checkpoints.round()
    with pytest.raises(NotFound):
        await store_of(checkpointed).load_interaction(chat.id, interaction)


@pytest.mark.req("S1.37", "S1.52")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_the_files_are_where_the_contract_says(serve: Serve, gate: Gate, tmp_path: Path) -> None:
    server = await serve(chat_agents(gate), checkpoints="files", checkpoint_folder=tmp_path)
    chat = Chat(server)
    interaction = interaction_of(await chat.say("hello"))
    await saved(server, chat.id, interaction)
    folder = tmp_path / "chats" / chat.id
    await eventually("the chat is described", (folder / "chat.json").exists)
    assert sorted(path.name for path in folder.rglob("*")) == sorted(
        ["chat.json", "interactions", f"{interaction}.json"]
    )
    kept = json.loads((folder / "interactions" / f"{interaction}.json").read_text(encoding="utf-8"))
    assert list(kept)[:7] == FIELDS
    assert kept == await chat.look(interaction)
    about = json.loads((folder / "chat.json").read_text(encoding="utf-8"))
    assert about == {"id": chat.id, "created_at": kept["created_at"]}


@pytest.mark.req("S1.37", "S1.38", "S1.50", "S1.51")
async def test_files_are_a_separate_store(tmp_path: Path) -> None:
    store = FileInteractionStore(tmp_path)
    first = an_interaction(1)
    second = an_interaction(2, first)
    await store.save_interaction("c", second)
    await store.save_interaction("c", first)
    await store.save_interaction("c", first)
    assert await FileInteractionStore(tmp_path).load_chat("c") == ChatModel(
        id="c", interactions=[first, second], created_at=first.created_at
    )
    assert await store.get_previous_state("c", second.id) == first.final_agent_state
    assert await store.get_previous_state("c", first.id) is None
    assert drafts(tmp_path) == []
    assert modes(tmp_path) == {0o600}


@pytest.mark.req("S1.50")
async def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FileInteractionStore(tmp_path)
    await store.save_interaction("c", an_interaction(1))

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        await store.save_interaction("c", an_interaction(1, user_message="other"))
    assert (await store.load_interaction("c", "int_001")).user_message == "Grüße 1"
    assert drafts(tmp_path) == []


@pytest.mark.req("S1.28")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_cut_off_interaction_leaves_a_state_that_can_be_gone_on_from(checkpointed: Server, gate: Gate) -> None:
    chat = Chat(checkpointed)
    waiting, _ = await chat.start_waiting()
    await chat.cancel(interaction_of(waiting))
    cut = await saved(checkpointed, chat.id, interaction_of(waiting))
    assert cut.final_agent_state is not None
    assert cut.final_agent_state.messages == [{"role": "user", "content": "run it"}], "no call without a result"
    assert (await checkpointed.store.get_run(LOCAL, interaction_of(waiting)[4:])).status is Status.CANCELED
    await waiting.close()


def whole_files(folder: Path) -> list[Path]:
    return list(folder.rglob("int_1.json"))


def backdated(draft: Path, seconds: float) -> None:
    draft.parent.mkdir(parents=True, exist_ok=True)
    draft.write_text("half of it")
    then = time.time() - seconds
    os.utime(draft, (then, then))


@pytest.mark.req("S1.37", "S1.50")
@pytest.mark.parametrize("backend", ["memory"])
async def test_drafts_that_a_killed_process_left_are_removed_and_younger_ones_stay(
    serve: Serve, gate: Gate, tmp_path: Path
) -> None:
    folders = [tmp_path / "chats" / "c", tmp_path / "owners" / "ann%40example.com" / "chats" / "c"]
    places = [*folders, *(folder / "interactions" for folder in folders)]
    for place in places:
        backdated(place / ".int_1.json.0001", 700)
        backdated(place / ".int_1.json.0002", 10)
        backdated(place / "int_1.json", 700)
    fallback = tmp_path.with_name(f"{tmp_path.name}-fallback")
    backdated(fallback / ".int_1.json.0001", 700)
    server = await serve(chat_agents(gate), checkpoints="files", checkpoint_folder=tmp_path)
    await eventually("the start has removed them", lambda: len(drafts(tmp_path) + drafts(fallback)) == len(places))
    assert {draft.name for draft in drafts(tmp_path)} == {".int_1.json.0002"}
    await server.process.checkpoints.clean()
    assert len(whole_files(tmp_path)) == len(places), "whole files stay"


@pytest.mark.req("S1.37")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_every_owner_has_a_folder_with_the_same_layout(serve: Serve, gate: Gate, tmp_path: Path) -> None:
    server = await serve(chat_agents(gate), checkpoints="files", checkpoint_folder=tmp_path, keys=True)
    key = await server.key("ann@example.com")
    stream = await Chat(server).start(headers={"authorization": f"Bearer {key}"})
    await stream.to_end()
    folder = tmp_path / "owners" / "ann%40example.com" / "chats" / "chat_123"
    await eventually("her chat is there", (folder / "chat.json").exists)
    assert [path.stem for path in (folder / "interactions").iterdir()] == [interaction_of(stream)]
    assert not (tmp_path / "chats").exists()
