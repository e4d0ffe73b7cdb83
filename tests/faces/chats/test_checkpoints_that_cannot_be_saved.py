"""A checkpoint that cannot be saved goes to a fallback folder and is saved later."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runyard.app.factories import fallback_folder, temporary_folder
from runyard.checkpoints import task as module
from runyard.checkpoints.store import InteractionStore
from runyard.checkpoints.task import Checkpoints, FallbackFolder
from runyard.domain.api_key import LOCAL
from runyard.errors import NotFound, StartupError
from runyard.faces.chats.wire import Interaction
from runyard.settings import Settings
from tests.faces.chats.chats_client import Chat, chat_agents, interaction_of
from tests.faces.chats.kept_interactions import an_interaction, store_of
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server


class Stubborn:
    """A store that hangs, or fails, until the test repairs it."""

    def __init__(self, store: InteractionStore, how: str) -> None:
        self._store = store
        self.how = how
        self.free = asyncio.Event()

    async def save_interaction(self, chat_id: str, interaction: Interaction) -> None:
        if self.how == "fails":
            raise RuntimeError("no")
        if self.how == "hangs":
            await self.free.wait()
        await self._store.save_interaction(chat_id, interaction)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def leave_saving_to_the_test(server: Server) -> None:
    [own] = [loop for loop in server.process._loops if loop.get_name() == "checkpoints"]
    own.cancel()
    await asyncio.gather(own, return_exceptions=True)


def checkpointing(server: Server, store: InteractionStore, folder: Path) -> Checkpoints:
    clock = server.process.reaper._clock
    return Checkpoints(server.process.engine, lambda _: store, clock, disk=folder / "disk", temporary=folder / "temp")


@pytest.mark.req("S1.43", "S1.28")
@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize(("how", "where"), [("hangs", "disk"), ("fails", "temp")])
async def test_a_checkpoint_that_cannot_be_saved_goes_to_the_fallback_and_back(
    serve: Serve, gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, where: str
) -> None:
    assert module.SAVE_SECONDS == 5.0
    monkeypatch.setattr(module, "SAVE_SECONDS", 0.05)
    server = await serve(chat_agents(gate))
    await leave_saving_to_the_test(server)
    chat = Chat(server)
    interaction = interaction_of(await chat.say())
    stubborn = Stubborn(store_of(server), how)
    saving = checkpointing(server, stubborn, tmp_path)
    assert await saving.round() == 1
    [aside] = (tmp_path / where).glob("*.json")
    assert aside.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / where).stat().st_mode & 0o777 == 0o700
    with pytest.raises(NotFound):
        await store_of(server).load_interaction(chat.id, interaction)
    assert await saving.round() == 0, "it rests before it is tried again"
    stubborn.how = ""
    assert await checkpointing(server, stubborn, tmp_path).restore_fallbacks() == 1
    assert (await store_of(server).load_interaction(chat.id, interaction)).id == interaction
    assert not list((tmp_path / where).glob("*.json"))
    stubborn.free.set()  # the slow one lands after all, and changes nothing
    await saving.close()
    assert (await store_of(server).load_interaction(chat.id, interaction)).id == interaction


@pytest.mark.req("S1.28")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_save_that_has_begun_survives_the_task_that_began_it(serve: Serve, gate: Gate, tmp_path: Path) -> None:
    server = await serve(chat_agents(gate))
    await leave_saving_to_the_test(server)
    chat = Chat(server)
    interaction = interaction_of(await chat.say())
    stubborn = Stubborn(store_of(server), "hangs")
    saving = checkpointing(server, stubborn, tmp_path)
    task = asyncio.create_task(saving.round())
    await eventually("the save has begun", lambda: saving._saving)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    stubborn.free.set()
    await saving.close()
    assert (await store_of(server).load_interaction(chat.id, interaction)).id == interaction


@pytest.mark.parametrize("backend", ["memory"])
async def test_fallback_copies_of_a_deleted_chat_are_deleted(serve: Serve, gate: Gate, tmp_path: Path) -> None:
    server = await serve(chat_agents(gate))
    FallbackFolder(tmp_path / "disk").put(LOCAL, "gone", an_interaction(1))
    (tmp_path / "disk" / "int_broken.json").write_text("{")
    assert await checkpointing(server, store_of(server), tmp_path).restore_fallbacks() == 1
    assert [path.name for path in (tmp_path / "disk").glob("*.json")] == ["int_broken.json"]


@pytest.mark.req("S1.43")
@pytest.mark.parametrize("kind", ["database", "files"])
def test_the_fallback_is_another_place_than_the_one_that_fails(tmp_path: Path, kind: str) -> None:
    where: dict[str, Any] = {
        "checkpoints": kind,
        "checkpoint_folder": tmp_path,
        "database_url": f"sqlite:///{tmp_path}/runyard.db",
    }
    places = fallback_folder(Settings(**where)), temporary_folder(Settings(**where))
    assert len(set(places)) == 2
    assert not [place for place in places if place.is_relative_to(tmp_path)]
    elsewhere = tmp_path.with_name("elsewhere")
    assert fallback_folder(Settings(**where, checkpoint_fallback=elsewhere)) == elsewhere
    for inside in (tmp_path, tmp_path / "fallback", elsewhere / ".." / tmp_path.name / "x"):
        with pytest.raises(StartupError, match="RUNYARD_CHECKPOINT_FALLBACK"):
            fallback_folder(Settings(**where, checkpoint_fallback=inside))


@pytest.mark.req("S1.43")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_disk_that_takes_no_more_files_does_not_take_the_fallback_too(
    serve: Serve, gate: Gate, tmp_path: Path
) -> None:
    """The folder of checkpoints cannot be written, nor can the temporary one: the third place has the copy."""
    server = await serve(chat_agents(gate), checkpoints="files")
    await leave_saving_to_the_test(server)
    chat = Chat(server)
    interaction = interaction_of(await chat.say())
    (tmp_path / "temp").write_text("a file where a folder should be")
    saving = checkpointing(server, Stubborn(store_of(server), "fails"), tmp_path)
    await saving.round()
    assert [path.stem for path in (tmp_path / "disk").glob("*.json")] == [interaction]


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_fallback_folder_that_others_can_use_is_not_used(serve: Serve, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    linked = tmp_path / "linked"
    (tmp_path / "ours").mkdir(mode=0o700)
    linked.symlink_to(tmp_path / "ours")
    for place in (shared, linked):
        with pytest.raises(PermissionError):
            FallbackFolder(place).put(LOCAL, "c", an_interaction(1))
