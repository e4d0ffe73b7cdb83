"""The sandbox of this machine. Tests that need one are reported as missing if the kernel does not allow it."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.agents.sandbox.bubblewrap import Limits
from runyard.agents.sandbox.sandbox import Sandbox
from tests.support.session.missing_programs import MARK, need


@pytest.fixture
async def sandbox() -> Sandbox:
    return await ready()


async def ready(**limits: float) -> Sandbox:
    """Return a working sandbox with small limits, so that a failing test does not harm the machine."""
    made = Sandbox(Limits(**{"seconds": 20, "memory_bytes": 256 * 1024 * 1024} | limits))  # type: ignore[arg-type]
    reason = await made.unavailable_reason()
    if reason is not None:
        need("bwrap")
        pytest.skip(f"{MARK}a working sandbox ({reason})")
    return made


class Home:
    """A folder for the sandboxes of one test, which identifies their processes."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir="/tmp"))
        self.folder.chmod(0o711)

    def inhabitants(self) -> list[str]:
        """Return the living processes whose file system is a sandbox of this test."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if str(self.folder) in (process / "mountinfo").read_text():
                    found.append(f"{process.name} {(process / 'cmdline').read_bytes()!r}")
            except OSError:
                continue
        return found


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Check after every test that its sandboxes left no process and no folder."""
    tmp_path_factory.getbasetemp()  # created outside the folder below, if this is the first test that needs it
    made = Home()
    monkeypatch.setattr(tempfile, "tempdir", str(made.folder))
    yield made
    left = made.inhabitants(), list(made.folder.iterdir())
    shutil.rmtree(made.folder, ignore_errors=True)
    assert left == ([], [])


async def ask(sandbox: Sandbox, expression: str) -> object:
    """Return the value of an expression inside the sandbox, or the name of its error."""
    program = f"""
import ctypes, errno, glob, json, os, signal, socket, subprocess, sys
def outcome():
    try:
        return {expression}
    except Exception as error:
        return type(error).__name__
print(json.dumps(outcome()))
"""
    ended = await sandbox.run(program)
    assert ended.stopped is None, ended
    assert ended.code == 0, ended
    return json.loads(ended.output)
