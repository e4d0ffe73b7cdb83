"""The servers under test, each a separate process: started, waited for, stopped."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

READY_SECONDS = 60.0
STOP_SECONDS = 30.0


class NotReady(Exception):
    """A server ended, or did not answer in time."""


@dataclass(frozen=True)
class Server:
    name: str
    port: int
    pid: int
    ready_seconds: float
    database_pid: int | None = None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def python(module: str, *arguments: str) -> list[str]:
    """The command for a server of this project; the port comes last."""
    return [sys.executable, "-m", module, *arguments]


@contextmanager
def running(
    name: str, command: Sequence[str], health: str, database_pid: int | None = None, quiet_in: Path | None = None
) -> Iterator[Server]:
    """A server that answers, until the block ends. `command` is completed by the port.

    `quiet_in`: the folder in which it runs, with its output."""
    port = free_port()
    begun = time.perf_counter()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("RUNYARD_")}
    with (quiet_in / "said").open("w") if quiet_in else nullcontext() as said:
        process = subprocess.Popen([*command, str(port)], env=environment, cwd=quiet_in, stdout=said, stderr=said)
    try:
        try:
            _wait(process, f"http://127.0.0.1:{port}{health}", begun)
        except NotReady as error:
            raise NotReady(f"{error}{_last_words(quiet_in)}") from None
        yield Server(name, port, process.pid, time.perf_counter() - begun, database_pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _last_words(folder: Path | None) -> str:
    lines = [line for line in (folder / "said").read_text(errors="replace").splitlines() if line] if folder else []
    return f": {lines[-1][:200]}" if lines else ""


def _wait(process: "subprocess.Popen[bytes]", url: str, begun: float) -> None:
    while time.perf_counter() - begun < READY_SECONDS:
        if process.poll() is not None:
            raise NotReady(f"the server ended with code {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.02)
    raise NotReady("the server did not answer in time")
