"""The client process itself, over a real socket: it accepts a correct stream and fails on a wrong one."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bench.client.clients import ClientFailed, Crowd, shares
from bench.client.load import Heard, Talk

LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


def token(number: int) -> bytes:
    return b'id: %d\nevent: token\ndata: {"text":"t%d "}\n\n' % (number + 1, number)


STATE = b'id: 99\nevent: state\ndata: {"status":"done"}\n\n'


@contextmanager
def serving(*frames: bytes) -> Iterator[int]:
    """A server of the threads face whose every stream consists of these frames."""
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_accept, args=(listener, frames), daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def _accept(listener: socket.socket, frames: tuple[bytes, ...]) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(connection, frames), daemon=True).start()


def _answer(connection: socket.socket, frames: tuple[bytes, ...]) -> None:
    body = json.dumps({"thread_id": "1", "run_id": "2"}).encode()
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(frame), frame) for frame in frames)
    with connection, connection.makefile("rb") as lines:
        while line := lines.readline():
            size = 0
            while (header := lines.readline()) != b"\r\n":
                if found := LENGTH.match(header):
                    size = int(found[1])
            lines.read(size)
            if line.startswith(b"POST"):
                connection.sendall(b"HTTP/1.1 201 Created\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
            else:
                connection.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%b0\r\n\r\n" % chunks)


def hear(port: int, processes: int = 1) -> Heard:
    job = Talk(port=port, clients=3, seconds=0, agent="tokens", tokens=2)
    with Crowd(job, processes) as crowd:
        crowd.go()
        crowd.wait()
        return crowd.heard()


def test_runs_and_events_are_counted_over_all_processes() -> None:
    with serving(token(0), token(1), STATE) as port:
        heard = hear(port, processes=2)
    assert (heard.runs, heard.events, len(heard.firsts)) == (3, 6, 3)
    assert all(0 < first <= heard.ended - heard.begun for first in heard.firsts)


@pytest.mark.parametrize(
    ("frames", "complaint"),
    [
        ([token(0), STATE], "1 tokens came, not 2"),
        ([token(0), token(0), token(1), STATE], "id 1 came after 1"),
        ([token(1), token(0), STATE], "token 1 came where 0 was due"),
    ],
    ids=["missing", "doubled", "reordered"],
)
def test_a_wrong_stream_is_no_result(frames: list[bytes], complaint: str) -> None:
    with serving(*frames) as port, pytest.raises(ClientFailed, match=complaint):
        hear(port)


def test_clients_are_shared_out_evenly() -> None:
    assert shares(10, 3) == [4, 3, 3]
    assert sum(shares(1000, 4)) == 1000
