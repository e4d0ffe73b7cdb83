"""Deleting a chat, and retention, delete all its data, also its files on every machine."""

from pathlib import Path

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from runyard.agents.tools.workspace import Workspace
from runyard.base.ids import new_id
from runyard.checkpoints.task import FallbackFolder
from runyard.domain.api_key import LOCAL
from runyard.faces.chats.wire import Interaction
from tests.faces.chats.chats_client import Chat, interaction_of
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server


def writing_agents() -> App:
    @agent
    async def writer(ctx: Context) -> str:
        """Leaves a file in the workspace."""
        Workspace.current().write("notes/secret.txt", ctx.message.text.encode())
        return "written"

    return App({"writer": writer}, {}, "writer")


def matches(folder: Path, pattern: str) -> list[Path]:
    return list(folder.rglob(pattern))


def files_below(folder: Path, *, but: str = "runyard.db") -> list[str]:
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and but not in path.name
    )


async def spoken(server: Server, folder: Path, text: str = "hello", chat: str = "chat_123") -> Chat:
    """A chat with a workspace and a checkpoint file."""
    said = Chat(server, chat)
    await said.say(text)
    await eventually("its checkpoint is a file", lambda: list(folder.rglob(f"{chat}/chat.json")))
    return said


@pytest.fixture
async def pod(serve: Serve) -> Server:
    return await serve(writing_agents(), checkpoints="files")


async def test_a_deleted_chat_leaves_no_file(pod: Server, tmp_path: Path) -> None:
    await spoken(pod, tmp_path, chat="other")
    left = files_below(tmp_path)
    chat = await spoken(pod, tmp_path)
    [interactions] = matches(tmp_path, "chat_123/interactions")
    draft = interactions / f".{next(interactions.glob('int_*.json')).name}.0"
    draft.write_text("half of it")
    assert len(files_below(tmp_path)) == len(left) + 4
    assert (await pod.http.delete(chat.path)).status_code == 204
    assert files_below(tmp_path) == left
    assert not matches(tmp_path, "chat_123*"), "no empty folder either"


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_thread_deleted_on_another_face_leaves_no_file(pod: Server, tmp_path: Path) -> None:
    await pod.ended(run_id := await pod.post("writer"))
    assert files_below(tmp_path) != []
    thread = (await pod.run(run_id))["thread_id"]
    assert (await pod.http.delete(f"/api/threads/{thread}")).status_code == 204
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_deleted_dm_leaves_no_claude_session(pod: Server, tmp_path: Path) -> None:
    deleted, kept = (await pod.http.post("/api/dms", json={"agentId": "writer"})).json()["id"], new_id()
    homes = pod.process._settings.workspaces / "claude" / "writer"
    for dm in (deleted, kept):
        (homes / dm / "projects").mkdir(parents=True)
        (homes / dm / "projects" / "session.jsonl").write_text("what was said")
    assert (await pod.http.delete(f"/api/dms/{deleted}")).status_code == 204
    await pod.process.deleted_files.round()
    assert files_below(homes) == [f"{kept}/projects/session.jsonl"]
    assert not (homes / deleted).exists()


async def test_a_chat_that_retention_drops_leaves_no_file(pod: Server, tmp_path: Path) -> None:
    await spoken(pod, tmp_path)
    store, now = pod.process.store, pod.process.reaper._clock.now_ms()
    assert (await store.sweep(now + 1000, None, 100)).dropped == 1
    assert files_below(tmp_path) != [], "the transaction removes no files"
    await pod.process.deleted_files.round()
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("backend", ["memory", "postgres"])
async def test_another_process_removes_its_own_files(serve: Serve, tmp_path: Path) -> None:
    """Two machines, each with a separate disk: the run worked on one, the request to delete came to the other."""
    here = await serve(writing_agents(), checkpoints="files")
    chat = await spoken(here, tmp_path)
    there = await serve(writing_agents(), worker=False, checkpoints="files", workspaces=tmp_path / "elsewhere",
                        checkpoint_folder=tmp_path / "elsewhere")  # fmt: skip
    assert (await there.http.delete(chat.path)).status_code == 204
    assert files_below(tmp_path) != []
    await here.process.deleted_files.round()
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_removal_that_fails_is_tried_again(
    pod: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = await spoken(pod, tmp_path)

    async def refused(self: Workspace) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "remove", refused)
        assert (await pod.http.delete(chat.path)).status_code == 204
    assert [name for name in files_below(tmp_path) if "secret" in name]
    await pod.process.deleted_files.round()
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_chat_that_was_made_again_keeps_its_files(pod: Server, tmp_path: Path) -> None:
    """The removal of the first chat comes late, when a second one has its name."""
    first = await spoken(pod, tmp_path)
    thread = await pod.process.engine.views.named_thread(LOCAL, first.id)
    await pod.process.store.delete_thread(LOCAL, thread.id)
    second = interaction_of(await first.say("again"))
    await eventually("its checkpoint is a file", lambda: list(tmp_path.rglob(f"{second}.json")))
    await pod.process.deleted_files.round()
    assert [path.stem for path in matches(tmp_path, "int_*.json")] == [second]


@pytest.mark.parametrize("backend", ["memory"])
async def test_fallback_copies_of_a_deleted_chat_go_and_never_come_back(pod: Server, tmp_path: Path) -> None:
    chat = await spoken(pod, tmp_path)
    [file] = matches(tmp_path, "int_*.json")
    aside = FallbackFolder(pod.process.checkpoints._disk._folder)
    aside.put(LOCAL, chat.id, Interaction.model_validate_json(file.read_bytes()))
    assert len(aside.all()) == 1
    kept = aside.all()[0]
    assert (await pod.http.delete(chat.path)).status_code == 204
    assert aside.all() == []
    aside.put(*kept[1:])  # a process that was too late
    await pod.process.checkpoints.restore_fallbacks()
    assert files_below(tmp_path) == []
