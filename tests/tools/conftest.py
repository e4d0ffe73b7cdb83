"""The sandbox of this machine. Where its kernel allows none, tests that need one are reported as missing."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.agents.sandbox.bubblewrap import Limits
from runyard.agents.sandbox.sandbox import Sandbox
from tests.support.missing import MARK, need


@pytest.fixture
async def sandbox() -> Sandbox:
    return await ready()


async def ready(**limits: float) -> Sandbox:
    """A sandbox with other limits than usual; small ones, so that a failure hurts nobody."""
    made = Sandbox(Limits(**{"seconds": 20, "memory_bytes": 256 * 1024 * 1024} | limits))  # type: ignore[arg-type]
    reason = await made.why_not()
    if reason is not None:
        need("bwrap")
        pytest.skip(f"{MARK}a working sandbox ({reason})")
    return made


class Home:
    """A place for the folders of a test's sandboxes, by which their processes are told from all others."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir="/tmp"))
        self.folder.chmod(0o711)

    def inhabitants(self) -> list[str]:
        """The living processes that have a sandbox of this test as their file system."""
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
    """Whatever a test does in a sandbox: in the end no process and no folder is left of it."""
    tmp_path_factory.getbasetemp()  # the folder of pytest itself, if this is the first test that asks for it
    made = Home()
    monkeypatch.setattr(tempfile, "tempdir", str(made.folder))
    yield made
    left = made.inhabitants(), list(made.folder.iterdir())
    shutil.rmtree(made.folder, ignore_errors=True)
    assert left == ([], [])
