"""The client for services that implement the contract.

Lenient in what it accepts: all three names of a terminal event, also inside the data if a service sends no `event:`
lines; several data lines, comments, CRLF, characters split anywhere (`runyard.base.sse`), and every envelope that
`result.py` reads. A stream that ends without its terminal event is an error.

Not its job: which addresses may be called. The HTTP client it is given decides that (`agents/tools/outbound.py`).
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2
import msgspec

from runyard.base.sse import Frame, Parser
from runyard.contract.result import TERMINAL_NAMES, Progress, Result, decode_object, read_refusal, read_result
from runyard.contract.timeouts import Timeouts
from runyard.errors import RemoteBroken, RemoteTimedOut, RemoteUnavailable

MOST_BYTES = 16 * 1024 * 1024


class ContractClient:
    """A client of one service. Raises RemoteUnavailable, RemoteTimedOut or RemoteBroken.

    A refusal is not an exception: it is a Result with an error."""

    def __init__(self, http: httpx2.AsyncClient, url: str, timeouts: Timeouts | None = None) -> None:
        self._http = http
        self._url = url.rstrip("/")
        self._timeouts = timeouts or Timeouts()

    async def sync(self, request: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Result:
        """Send the request to the sync endpoint and return its result."""
        limits = self._timeouts
        async with self._request("sync", request, headers, limits.request, limits.request) as response:
            body = await _whole(response)
            if response.status_code != 200:
                return read_refusal(response.status_code, body)
            return read_result(decode_object(body), str(request["request_id"]))

    async def stream(
        self, request: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Progress | Result]:
        """Yield any number of Progress, then one Result."""
        limits = self._timeouts
        async with self._request("stream", request, headers, limits.stream, limits.idle) as response:
            if response.status_code != 200:
                yield read_refusal(response.status_code, await _whole(response))
                return
            if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
                raise RemoteBroken("The remote agent did not answer with an event stream.")
            async with aclosing(_frames(response)) as frames:
                async for frame in frames:
                    name, data = _named(frame)
                    if name in TERMINAL_NAMES:
                        yield read_result(data, str(request["request_id"]))
                        return
                    yield Progress(name, data)
        raise RemoteBroken("The stream of the remote agent ended before its terminal event.")

    @asynccontextmanager
    async def _request(
        self, endpoint: str, request: Mapping[str, Any], headers: Mapping[str, str] | None, total: float, idle: float
    ) -> AsyncIterator[httpx2.Response]:
        began = False
        connect = self._timeouts.request
        timeout = httpx2.Timeout(connect=connect, read=idle, write=connect, pool=connect)
        try:
            async with (
                asyncio.timeout(total),
                self._http.stream(
                    "POST",
                    f"{self._url}/agents/run/{endpoint}",
                    content=msgspec.json.encode(request),
                    headers={"content-type": "application/json", "accept-encoding": "identity", **(headers or {})},
                    timeout=timeout,
                ) as response,
            ):
                began = True
                yield response
        except (TimeoutError, httpx2.TimeoutException):
            raise RemoteTimedOut from None
        except httpx2.HTTPError:
            if began:
                raise RemoteBroken("The answer of the remote agent was cut off.") from None
            raise RemoteUnavailable from None


async def _chunks(response: httpx2.Response) -> AsyncGenerator[bytes]:
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > MOST_BYTES:
            raise RemoteBroken("The answer of the remote agent is too long.")
        yield chunk


async def _whole(response: httpx2.Response) -> bytes:
    async with aclosing(_chunks(response)) as chunks:
        return b"".join([chunk async for chunk in chunks])


async def _frames(response: httpx2.Response) -> AsyncGenerator[Frame]:
    parser = Parser()
    async with aclosing(_chunks(response)) as chunks:
        async for chunk in chunks:
            for frame in parser.feed(chunk):
                yield frame


def _named(frame: Frame) -> tuple[str, dict[str, Any]]:
    """Return the name and the data of an event. Some services send the name in the data, without an `event:` line."""
    data = decode_object(frame.data.encode())
    if frame.event == "message":
        inner = data.get("event", data.get("type"))
        return (inner if isinstance(inner, str) else frame.event), data
    return frame.event, data
