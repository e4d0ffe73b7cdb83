"""A proxy keeps connections to a pod and uses one again whenever a request comes. If the pod closed it just then, that
request would be lost, and a POST is not sent twice by itself: so the pod must keep idle connections longer than the
proxy."""

from __future__ import annotations

import asyncio

from tests.support.scenario.flow import Flow

LONGER_THAN_UVICORN_WOULD = 6.0
ASKED = b"GET /health HTTP/1.1\r\nhost: pod\r\n\r\n"


async def test_a_connection_that_was_silent_for_a_while_is_answered(sqlite_flow: Flow) -> None:
    pod = await sqlite_flow.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(pod.url.rpartition(":")[2]))
    for pause in (LONGER_THAN_UVICORN_WOULD, 0):
        writer.write(ASKED)
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        await asyncio.sleep(pause)  # waits on purpose: silence is what is tested
    writer.close()
