"""The private Redis and NATS servers of the tests: private, and stopped with the tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.eventually import PATIENCE
from tests.support.servers.daemon import Daemon, DaemonMissingError
from tests.support.servers.nats_server import PrivateNats
from tests.support.servers.postgres_server import wait_for
from tests.support.servers.redis_server import PrivateRedis

ROOT = Path(__file__).parents[3]
KINDS = [PrivateRedis, PrivateNats]


def answer(daemon: Daemon, seconds: float = 5) -> bytes:
    """Return the greeting of the daemon for a new client, or nothing."""
    try:
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=seconds) as talk:
            talk.sendall(b"PING\r\n")
            return talk.recv(5)
    except OSError:
        return b""


@pytest.mark.parametrize("kind", KINDS)
def test_a_daemon_can_be_killed_and_started_again_on_the_same_port(kind: type[Daemon]) -> None:
    with kind() as daemon:
        url = daemon.url
        daemon.kill()
        assert answer(daemon) == b""
        daemon.start()
        assert answer(daemon) == kind.greeting
        assert daemon.url == url
    assert answer(daemon) == b""
    daemon.kill()


@pytest.mark.parametrize("kind", KINDS)
def test_paused_it_says_nothing_until_it_goes_on(kind: type[Daemon]) -> None:
    with kind() as daemon:
        daemon.pause()
        assert answer(daemon, seconds=0.2) == b""
        daemon.resume()
        assert answer(daemon) == kind.greeting


@pytest.mark.parametrize("kind", KINDS)
def test_a_daemon_ends_with_the_test_process_however_that_ends(kind: type[Daemon]) -> None:
    program = (
        f"import sys\nfrom {kind.__module__} import {kind.__name__} as Kind\n"
        "daemon = Kind()\ndaemon.start()\nprint(daemon.port, flush=True)\nsys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    orphan = kind()
    orphan.port = int(process.stdout.readline())
    assert answer(orphan) == kind.greeting
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert wait_for(lambda: answer(orphan) == b"", seconds=PATIENCE)


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrivateRedis, "program", "no-such-server")
    with pytest.raises(DaemonMissingError, match="no-such-server"):
        PrivateRedis()
