"""Clients without a key that send too much, too slowly or from too many connections: other clients are served
meanwhile, and
the memory of the process stays bounded."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from pathlib import Path

from tests.support.eventually import PATIENCE, eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod

MANY = 300
MOST_GROWTH = 64 * 1024 * 1024
HEAD = b"POST /api/threads HTTP/1.1\r\nhost: pod\r\n"
SLOW_BODY = HEAD + b"content-type: application/json\r\ncontent-length: 100000\r\n\r\n{"
LARGE = HEAD + b"".join(b"x-%d: %b\r\n" % (number, b"y" * 60_000) for number in range(400))


def resident(pod: Pod) -> int:
    """The memory of the process, in bytes."""
    lines = Path(f"/proc/{pod.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) * 1024


def descriptors(pod: Pod) -> int:
    """How many files and sockets the process has open."""
    return len(list(Path(f"/proc/{pod.pid}/fd").iterdir()))


async def _open(pod: Pod, sent: bytes) -> asyncio.StreamWriter | None:
    """A connection that has sent as much of this as the server took."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", int(pod.url.rpartition(":")[2]))
    except OSError:
        return None
    with suppress(OSError):
        writer.write(sent)
        async with asyncio.timeout(PATIENCE):
            await writer.drain()
    return writer


async def test_large_headers_and_slow_requests_without_a_key_stop_no_client(sqlite_flow: Flow) -> None:
    pod = await sqlite_flow.start(keys="1", header_seconds=5, max_connections_per_address=MANY)
    assert (await sqlite_flow.http.get(f"{pod.url}/health")).status_code == 200
    before = resident(pod)
    for attack, times in ((LARGE, 20), (HEAD + b"x: " + b"y" * 30_000, MANY), (SLOW_BODY, MANY)):
        opened = await asyncio.gather(*(_open(pod, attack) for _ in range(times)))
        local = await asyncio.open_connection("127.0.0.1", int(pod.url.rpartition(":")[2]), local_addr=("127.0.0.2", 0))
        local[1].write(b"GET /health HTTP/1.1\r\nhost: pod\r\nconnection: close\r\n\r\n")
        async with asyncio.timeout(PATIENCE):
            assert (await local[0].readline()).startswith(b"HTTP/1.1 200"), "another address is served meanwhile"
        assert resident(pod) - before < MOST_GROWTH
        for writer in (local[1], *opened):
            if writer is not None:
                writer.transport.abort()


async def _stop_reading(pod: Pod, path: str) -> socket.socket:
    """A client that asks for a stream, reads its head, and nothing more."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, ("127.0.0.1", int(pod.url.rpartition(":")[2])))
    await loop.sock_sendall(client, b"GET %b HTTP/1.1\r\nhost: pod\r\n\r\n" % path.encode())
    async with asyncio.timeout(PATIENCE):
        assert (await loop.sock_recv(client, 16)).startswith(b"HTTP/1.1 200")
    return client


async def test_streams_that_are_not_read_give_their_sockets_and_memory_back(sqlite_flow: Flow) -> None:
    """The clients keep their connections open and never read again."""
    pod = await sqlite_flow.start(variables={"STALL_SECONDS": "1"})
    run_id = await sqlite_flow.post(["tokens", 20_000])
    await sqlite_flow.reached(run_id, "done")
    before = descriptors(pod)
    clients = [await _stop_reading(pod, f"/api/runs/{run_id}/log") for _ in range(30)]
    try:
        await eventually("the server drops them", lambda: descriptors(pod) <= before + 5)
        assert (await sqlite_flow.http.get(f"{pod.url}/health")).status_code == 200
    finally:
        for client in clients:
            client.close()
