"""The file tools touch nothing outside the thread's folder, whatever path they get."""

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import runyard
from runyard.agents.tools import workspace
from runyard.agents.tools.tool import Tool
from runyard.agents.user_code.current_call import set_current_execution
from runyard.errors import ToolError
from tests.agents.fake_execution import FakeExecution


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "t").mkdir()
    return tmp_path / "t"


async def use(folder: Path, tool: Tool[..., Any], **given: Any) -> Any:
    with set_current_execution(FakeExecution(), folder.parent):
        return await tool.run(given, None, "run-1:call")


async def write(folder: Path, path: str, content: str = "x") -> Any:
    return await use(folder, runyard.write_file, path=path, content=content)


async def read(folder: Path, path: str) -> Any:
    return await use(folder, runyard.read_file, path=path)


async def test_a_written_file_can_be_read_and_replaced(folder: Path) -> None:
    assert await write(folder, "notes/one two.md", "né") == "Wrote 3 bytes."
    assert await read(folder, "notes/one two.md") == "né"
    await write(folder, "notes/one two.md", "again")
    assert await read(folder, "notes/one two.md") == "again"
    assert [path.name for path in (folder / "notes").iterdir()] == ["one two.md"], "nothing else is left behind"


def modes_in(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.rglob("*")}


async def test_only_the_servers_user_may_read_what_a_tool_wrote(folder: Path, open_umask: None) -> None:
    for _ in range(2):
        await write(folder, "notes/deeper/one.md")
    assert modes_in(folder) == {"notes": 0o700, "deeper": 0o700, "one.md": 0o600}


@pytest.mark.req("S1.46")
@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "a/../../secret",
        "/etc/passwd",
        "//etc/passwd",
        "..",
        ".",
        "",
        "a//b",
        "a/",
        "./a",
        "..\\secret",
        "a\0b",
        "\ud800",
        "x" * 201,
        "/".join("a" * 17),
    ],
    ids=repr,
)
async def test_a_path_that_leads_out_is_refused(folder: Path, path: str) -> None:
    for use_it in (read, write):
        with pytest.raises(ToolError):
            await use_it(folder, path)
    assert (folder.parent / "secret").read_text() == "secret"
    assert os.listdir(folder) == []


@pytest.mark.req("S1.46")
async def test_links_are_not_followed(folder: Path) -> None:
    (folder / "file").symlink_to(folder.parent / "secret")
    (folder / "up").symlink_to(folder.parent)
    (folder / "there").mkdir()
    for path in ("file", "up/secret"):
        with pytest.raises(ToolError):
            await read(folder, path)
    for path in ("up/secret", "up/new", "there"):
        with pytest.raises(ToolError):
            await write(folder, path)
    await write(folder, "file", "mine")
    assert (folder / "file").read_text() == "mine", "the link was replaced, not what it led to"
    assert not (folder / "file").is_symlink()
    assert (folder.parent / "secret").read_text() == "secret"
    assert not (folder.parent / "new").exists()


async def test_only_regular_files_can_be_read(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "bytes").write_bytes(b"\xff\xfe")
    for path in ("pipe", "bytes", "missing", "missing/too"):
        with pytest.raises(ToolError):
            await read(folder, path)


async def test_names_that_differ_by_case_only_are_refused(folder: Path) -> None:
    await write(folder, "Plan.md")
    await write(folder, "Notes/a")
    for path in ("plan.md", "PLAN.MD", "notes/b"):
        with pytest.raises(ToolError, match="differs only by case"):
            await write(folder, path)


async def test_sizes_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolError, match="larger than 1048576 bytes"):
        await write(folder, "big", "x" * (1024 * 1024 + 1))
    (folder / "big").write_bytes(bytes(1024 * 1024 + 1))
    with pytest.raises(ToolError, match="larger than"):
        await read(folder, "big")
    monkeypatch.setattr(workspace, "FOLDER_FILES", 2)
    await write(folder, "second")
    with pytest.raises(ToolError, match="full"):
        await write(folder, "third")
    monkeypatch.setattr(workspace, "FOLDER_BYTES", 100)
    with pytest.raises(ToolError, match="full"):
        await write(folder, "second", "x")


async def test_each_thread_has_its_own_folder(tmp_path: Path) -> None:
    for thread in ("a", "b", "../c"):
        execution = FakeExecution()
        execution.run = structs.replace(execution.run, thread_id=thread)
        with set_current_execution(execution, tmp_path / "all"):
            await runyard.write_file.run({"path": "x", "content": thread}, None, "run-1:k")
    assert not (tmp_path / "c").exists()
    assert sorted(path.read_text() for path in (tmp_path / "all").glob("*/x")) == ["../c", "a", "b"]


async def test_a_folder_whose_replacement_was_interrupted_is_restored(folder: Path) -> None:
    await write(folder, "x", "kept")
    os.rename(folder, folder.with_name("t.old"))
    assert await read(folder, "x") == "kept"


async def test_file_tools_need_a_run() -> None:
    with pytest.raises(ToolError, match="only inside a run"):
        await runyard.read_file.run({"path": "x"}, None, "k")
