"""A private server program of a test, on a free port of 127.0.0.1, that keeps nothing on disk.

It can be killed, started again on the same port, and paused as a machine that hangs. Whatever happens to the test
process, a keeper process ends the server: it waits for the end of a pipe that only the test process holds.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Self

from tests.support.eventually import PATIENCE
from tests.support.servers.postgres_server import free_port, wait_for
from tests.support.session.missing_programs import ProgramMissing

_KEEPER = """
import os, signal, sys
sys.stdin.read()
os.killpg(int(sys.argv[1]), signal.SIGKILL)
"""


class DaemonMissingError(ProgramMissing):
    """The server program was not found."""


class DaemonFailedError(Exception):
    """The server did not start; the message carries what it printed."""


class Daemon(ABC):
    program: ClassVar[str]
    hello: ClassVar[bytes] = b"PING\r\n"
    greeting: ClassVar[bytes]  # how its answer to that begins when it is ready

    def __init__(self) -> None:
        self._path = self.find()
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper: subprocess.Popen[bytes] | None = None

    @classmethod
    def find(cls) -> Path:
        """The machine's own program, else the one that a wheel put beside our Python."""
        found = shutil.which(cls.program) or shutil.which(cls.program, path=sysconfig.get_path("scripts"))
        if found is None:
            raise DaemonMissingError(f"No {cls.program} was found; install it, or requirements/{cls.program}.txt.")
        return Path(found)

    @abstractmethod
    def options(self) -> list[str]: ...

    def environment(self) -> dict[str, str]:
        """Variables for the program, besides those of this process."""
        return {}

    @property
    @abstractmethod
    def url(self) -> str: ...

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start, and return when it answers; always on the same port."""
        with tempfile.TemporaryFile() as printed:
            self._process = process = subprocess.Popen(
                [self._path, *self.options()],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                cwd="/",
                env={**os.environ, **self.environment()},
                start_new_session=True,
            )
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _KEEPER, str(process.pid)],
                stdin=subprocess.PIPE,
                start_new_session=True,
            )
            if not wait_for(lambda: self._answers() or process.poll() is not None, seconds=PATIENCE) or process.poll():
                self.kill()
                printed.seek(0)
                raise DaemonFailedError(printed.read().decode(errors="replace"))

    def kill(self) -> None:
        """End it at once; harmless when it is down."""
        if self._process is None or self._keeper is None:
            return
        self._keeper.kill()  # before the server: its process id must not be reused by then
        self._keeper.communicate()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # also what the program started
        self._process.wait()
        self._process = self._keeper = None

    def pause(self) -> None:
        """It keeps its connections and sends nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)  # until the last of its threads has stopped

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as talk:
            talk.sendall(self.hello)
            return talk.recv(100).startswith(self.greeting)
        return False


def say_what_is_found(daemon: type[Daemon]) -> int:
    try:
        path = daemon.find()
    except DaemonMissingError as missing:
        print(missing)
        return 1
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    print(f"{version} in {path.parent}")
    return 0
