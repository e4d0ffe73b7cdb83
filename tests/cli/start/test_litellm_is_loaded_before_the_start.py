"""litellm takes seconds to import. A server that needs it loads it before it is ready, can be stopped meanwhile, and a
server that does not need it never imports it. The litellm here is a stand-in whose import waits for a file."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.cli_process import RUNYARD, environment
from tests.support.eventually import PATIENCE

STAND_IN = """
import os, time
from pathlib import Path

here = Path(os.environ["STAND_IN"])
(here / "importing").touch()
while not (here / "go").exists():
    time.sleep(0.01)
"""
WITH_A_MODEL = 'import runyard\n\nasker = runyard.Agent("asker", model="openai/some", instructions="Answer.")\n'
WITHOUT = "import runyard\n\n@runyard.agent\nasync def plain(ctx):\n    await ctx.token('hello')\n"


@contextmanager
def serving(folder: Path, app: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    (folder / "litellm").mkdir()
    (folder / "litellm" / "__init__.py").write_text(STAND_IN)
    (folder / "app.py").write_text(app)
    log = folder / "log"
    values = {
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]),
        "STAND_IN": str(folder),
        "RUNYARD_APP": str(folder / "app.py"),
        "RUNYARD_PORT": "0",
        "RUNYARD_LOG_FORMAT": "json",
        "RUNYARD_DRAIN_SECONDS": "0",
    }
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [RUNYARD, "serve"], cwd=folder, env=environment(**values), stdout=lines, stderr=lines
        )
    try:
        yield process, log
    finally:
        process.kill()
        process.wait()


def wait_until(what: str, process: subprocess.Popen[bytes], is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert process.poll() is None, f"it ended before {what}"
        assert time.monotonic() < deadline, what
        time.sleep(0.01)  # waits on purpose: the condition is a file of another process


def said(log: Path, action: str) -> bool:
    return f'"action": "{action}"' in log.read_text()


def test_a_server_with_a_model_agent_says_that_it_loads_and_is_ready_afterwards(tmp_path: Path) -> None:
    with serving(tmp_path, WITH_A_MODEL) as (process, log):
        wait_until("the import begins", process, (tmp_path / "importing").exists)
        assert said(log, "models.load_started")
        assert not said(log, "worker.registered"), "no run may be claimed before its library is there"
        assert not said(log, "server.started")
        (tmp_path / "go").touch()
        wait_until("it is ready", process, lambda: said(log, "server.started"))
        order = [log.read_text().index(f'"action": "{action}"') for action in ("models.loaded", "worker.registered")]
        assert order == sorted(order)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_server_that_is_loading(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, WITH_A_MODEL) as (process, log):
        wait_until("the import begins", process, (tmp_path / "importing").exists)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert said(log, "process.stop_requested")


def test_a_server_without_a_model_agent_never_imports_it(tmp_path: Path) -> None:
    with serving(tmp_path, WITHOUT) as (process, log):
        wait_until("it is ready", process, lambda: said(log, "server.started"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert not (tmp_path / "importing").exists()
