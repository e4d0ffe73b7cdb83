"""The `runyard` command as a separate process that need not import everything again: most of its start is imports.

`start` asks a parent process, one for each process of tests, which has imported what commands need and done nothing
else. It forks a child with the caller's files as stdin, stdout and stderr, its folder, its environment and its words,
and the child calls `main` as the installed script does. Exit codes and signals are real. Tests of the start itself
(imports, time, reloading) use the script.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).parent / "runyard"
MOST = 1_000_000  # bytes of a request; an environment may be long


class ForkedCommand:
    """A command that was started. The first line on `status` is its process id, the second its exit code."""

    def __init__(self, status: int) -> None:
        self._status = status
        self._said = b""
        self.pid = int(self._line(0, None))

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait(self, seconds: float) -> int:
        """Return its exit code when it has ended; negative, if a signal ended it."""
        return int(self._line(1, seconds))

    def _line(self, number: int, seconds: float | None) -> bytes:
        with selectors.DefaultSelector() as selector:
            selector.register(self._status, selectors.EVENT_READ)
            while self._said.count(b"\n") <= number:
                if not selector.select(seconds):
                    raise subprocess.TimeoutExpired("runyard", seconds or 0)
                found = os.read(self._status, 100)
                assert found, "the parent process of the commands has ended"
                self._said += found
        return self._said.splitlines()[number]

    def close(self) -> None:
        os.close(self._status)


@cache
def _parent() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """A connection to the parent process, which ends when this process does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.cli.forked_commands", str(theirs.fileno())]
    process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()
    return ours, process


def start(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: int, stdout: int, stderr: int
) -> ForkedCommand:
    reader, writer = os.pipe()
    request = json.dumps({"words": list(words), "folder": str(folder), "environment": dict(environment)}).encode()
    assert len(request) < MOST
    parent, _ = _parent()
    parent.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
    socket.send_fds(parent, [request], [stdin, stdout, stderr, writer])
    os.close(writer)
    return ForkedCommand(reader)


# --- the parent process -----------------------------------------------------------------------------------------------


def _warm_up() -> None:
    import alembic.command  # noqa: F401 (a new database is migrated)
    import sqlalchemy  # noqa: F401

    import runyard.cli
    import runyard.client  # noqa: F401
    from runyard.agents.declared.loading import App
    from runyard.app.asgi import create_app
    from runyard.settings import Settings

    create_app(Settings(database_url="sqlite:///unused.db"), App({}, {}), worker=False)
    gc.collect()
    gc.freeze()


def main() -> None:
    tests = socket.socket(fileno=int(sys.argv[1]))
    _warm_up()
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal ends the tests, and thereby this process
    children: dict[int, int] = {}  # process id -> where its exit code goes
    with selectors.DefaultSelector() as selector:
        selector.register(tests, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not tests:
                    os.read(wake, 4096)
                    _report(children)
                    continue
                request, files, _, _ = socket.recv_fds(tests, MOST, 4)
                if not request:
                    for child in children:
                        os.kill(child, signal.SIGKILL)
                    return
                child = os.fork()
                if child == 0:
                    selector.close()
                    for file in (tests.detach(), wake, waker, *children.values()):
                        os.close(file)
                    _become(json.loads(request), files)
                os.write(files[3], b"%d\n" % child)
                children[child] = files[3]
                for file in files[:3]:
                    os.close(file)


def _report(children: dict[int, int]) -> None:
    for child, status in list(children.items()):
        pid, ended = os.waitpid(child, os.WNOHANG)
        if pid:
            del children[child]
            os.write(status, b"%d\n" % os.waitstatus_to_exitcode(ended))
            os.close(status)


def _become(wanted: dict[str, Any], files: list[int]) -> None:
    """Turn this process into the command. Does not return."""
    from runyard.cli import main as runyard

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for place, file in enumerate(files[:3]):
        os.dup2(file, place)
    for file in files:
        os.close(file)
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    sys.path[0] = str(SCRIPT.parent)
    sys.argv = [str(SCRIPT), *wanted["words"]]
    runyard()


if __name__ == "__main__":
    main()
