"""A folder that the server's user may not write to is named at the start, with what to do."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard import demo
from runyard.agents.declared.loading import app_of
from runyard.agents.tools.workspace import check_writable
from runyard.app.process import Process
from runyard.base.clock import SystemClock
from runyard.errors import StartupError
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from tests.support.in_process import live_server

ROOT = Path(__file__).parents[3]
IMAGE_USER = 10001
PROGRAM = """
import os, sys
from runyard.errors import StartupError
from runyard.agents.tools.workspace import check_writable
from pathlib import Path
os.setgroups([]); os.setgid({user}); os.setuid({user})
try:
    check_writable(Path(sys.argv[1]))
except StartupError as error:
    print(error)
else:
    print("fine")
"""
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")


@pytest.fixture
def volume() -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def said_in_the_image(folder: Path) -> str:
    command = [sys.executable, "-c", PROGRAM.format(user=IMAGE_USER), str(folder)]
    return subprocess.check_output(command, cwd=ROOT, text=True).strip()


@AS_ROOT
def test_a_folder_that_belongs_to_root_is_refused_with_the_command_that_helps(volume: Path) -> None:
    assert f"chown {IMAGE_USER} {volume}" in said_in_the_image(volume)


@AS_ROOT
def test_a_folder_as_the_image_makes_it_can_be_written(volume: Path) -> None:
    folder = volume / "workspaces"
    user = str(IMAGE_USER)
    subprocess.run(["install", "-d", "-o", user, "-g", user, "-m", "0700", folder], check=True)
    assert said_in_the_image(folder) == "fine"


def test_an_own_folder_and_one_that_is_still_to_be_made_are_fine(tmp_path: Path) -> None:
    check_writable(tmp_path)
    check_writable(tmp_path / "not there yet")


async def test_a_server_refuses_to_start_on_a_folder_that_it_cannot_write_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write everywhere, so the answer of the system is replaced."""
    monkeypatch.setattr("runyard.agents.tools.workspace.os.access", lambda *_: False)
    settings = Settings(database_url="sqlite:///unused.db", workspaces=tmp_path, **live_server.QUICK)
    with pytest.raises(StartupError, match="cannot be written by user"):
        await Process(settings, app_of(demo), worker=True, store=MemoryStore(SystemClock())).start()
