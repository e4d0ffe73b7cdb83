"""Uploads in real processes: large files need little memory, and a killed server leaves no visible file."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

from tests.store.content.test_files import LEFT
from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod

MEGABYTE = 1024 * 1024
SIZE = 50 * MEGABYTE
MOST_MEMORY = 20 * MEGABYTE  # of a transfer; the whole file does not fit


async def pieces(size: int) -> AsyncIterator[bytes]:
    """Bytes that do not repeat, so that no store can compress them much."""
    for n in range(size // MEGABYTE):
        yield hashlib.shake_128(n.to_bytes(8)).digest(MEGABYTE)


async def digest_of(chunks: AsyncIterator[bytes]) -> str:
    digest = hashlib.sha256()
    async for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


async def transfer(flow: Flow, pod: Pod, size: int) -> str:
    """Upload and download a file of this size, and compare; the id of the file."""
    made = await flow.http.post(
        f"{pod.url}/api/files", params={"name": "a.bin"}, content=pieces(size), headers={"Content-Type": "video/mp4"}
    )
    assert made.status_code == 201, made.text
    assert made.json()["size"] == size
    async with flow.http.stream("GET", f"{pod.url}/api/files/{made.json()['file_id']}") as answer:
        assert await digest_of(answer.aiter_bytes()) == await digest_of(pieces(size))
    return str(made.json()["file_id"])


def peak(pod: Pod) -> int:
    """The most memory that the process has had since the last `reset_peak`."""
    status = Path(f"/proc/{pod.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def reset_peak(pod: Pod) -> None:
    Path(f"/proc/{pod.pid}/clear_refs").write_text("5")


async def test_fifty_megabytes_go_through_with_flat_memory(any_flow: Flow) -> None:
    flow = any_flow
    pod = await flow.start("serve" if flow.is_sqlite else "api")
    await transfer(flow, pod, 4 * MEGABYTE)
    reset_peak(pod)
    before = peak(pod)
    await transfer(flow, pod, SIZE)
    assert peak(pod) - before < MOST_MEMORY


async def test_a_server_killed_during_an_upload_leaves_nothing_visible_and_the_next_one_cleans_up(
    any_flow: Flow,
) -> None:
    flow = any_flow
    kind = "serve" if flow.is_sqlite else "api"
    pod = await flow.start(kind)  # type: ignore[arg-type]
    port = urlsplit(pod.url).port
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        b"POST /api/files?name=a.bin HTTP/1.1\r\nHost: localhost\r\nContent-Type: video/mp4\r\n"
        b"Content-Length: %d\r\n\r\n" % SIZE
    )
    async for piece in pieces(4 * MEGABYTE):
        writer.write(piece)
    await writer.drain()

    async def left() -> int:
        return int((await flow.database.rows(LEFT))[0]["n"])

    async def is_under_way() -> bool:
        return await left() > 4

    await eventually("chunks are stored", is_under_way)
    await pod.kill()
    writer.close()
    assert [row["n"] for row in await flow.database.rows("select count(*) as n from files")] == [0]
    await flow.start(kind, stale_upload_seconds=0.5)  # type: ignore[arg-type]

    async def is_clean() -> bool:
        return await left() == 0

    await eventually("the next server deletes the chunks", is_clean)
