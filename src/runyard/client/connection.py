"""Requests to one server: sent again where that is safe, and problems turned back into Runyard's errors.

A refused connection is an error at once. A lost response, or a busy server, leads to another request: it creates
nothing, or carries an Idempotency-Key.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx2
import msgspec

from runyard.errors import (
    BadRequest,
    Conflict,
    Gone,
    Invalid,
    KeyRequired,
    NotFound,
    RunyardError,
    ScopeMissing,
    TooLarge,
    Unavailable,
)

LONGEST_PAUSE = 5.0
SILENCE_SECONDS = 60.0  # a stream sends a heartbeat every 15 s; a silent one is dead
PASSING = frozenset({408, 425, 429, 502, 503, 504})

_BY_STATUS: dict[int, type[RunyardError]] = {
    400: BadRequest,
    401: KeyRequired,
    403: ScopeMissing,
    404: NotFound,
    409: Conflict,
    410: Gone,
    413: TooLarge,
    422: Invalid,
}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def back_off(failures: int) -> float:
    """Return the seconds to wait after so many failures in a row: about 0.1, doubling up to 5, with random jitter."""
    return min(LONGEST_PAUSE, 0.1 * 2.0 ** min(failures - 1, 10)) * random.uniform(0.5, 1.0)


class NoServer(Unavailable):
    """No server answers at that address; start one with `runyard dev`."""


class Connection:
    """The connections to one server."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        transport: httpx2.AsyncBaseTransport | None,
        attempts: int,
        back_off: Callable[[int], float],
    ) -> None:
        if api_key is not None and not (api_key.isascii() and api_key.isprintable()):
            raise Invalid("The API key has impossible characters. Paste it again as `runyard keys create` printed it.")
        self.url = url.rstrip("/")
        parsed = httpx2.URL(self.url)
        is_local = parsed.host in _LOOPBACK
        self.attempts = attempts
        self._back_off = back_off
        self._http = httpx2.AsyncClient(
            base_url=self.url,
            headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
            timeout=httpx2.Timeout(30, connect=5),
            transport=transport,
            # a proxy that is set for the internet must not be used for this machine
            trust_env=not is_local,
            # to load the certificate authorities takes longer than most commands; plain HTTP to this machine needs none
            verify=not (is_local and parsed.scheme == "http"),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def pause(self, failures: int) -> None:
        await asyncio.sleep(self._back_off(failures))

    async def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        params: Mapping[str, Any] | None = None,
        repeatable: bool = True,
    ) -> bytes:
        """Send a request and return the body of the response. Unless `repeatable`, send it only once."""
        headers = given({"Idempotency-Key": key, "Content-Type": None if body is None else "application/json"})
        content = None if body is None else msgspec.json.encode(body)
        return await self._send(
            lambda: self._http.request(method, path, content=content, params=params, headers=headers), repeatable
        )

    async def upload(
        self, path: str, params: Mapping[str, Any], kind: str, pieces: Callable[[], AsyncIterator[bytes]]
    ) -> bytes:
        """Send the bytes of a file and return the body of the response. `pieces` is called for every attempt."""
        headers = {"Content-Type": kind}
        return await self._send(
            lambda: self._http.request("POST", path, content=pieces(), params=params, headers=headers), repeatable=True
        )

    async def _send(self, request: Callable[[], Awaitable[httpx2.Response]], repeatable: bool) -> bytes:
        failures = 0
        trouble: RunyardError
        while True:
            try:
                response = await request()
                if response.is_success:
                    return response.content
                trouble = self._error(response)
                if response.status_code not in PASSING:
                    raise trouble
            except httpx2.ConnectError:
                trouble = self._no_server()
                # after a lost response the server may be restarting
                if failures == 0:
                    raise trouble from None
            except httpx2.TransportError as error:
                trouble = self._broken(error)
            failures += 1
            if not repeatable or failures >= self.attempts:
                raise trouble
            await self.pause(failures)

    @asynccontextmanager
    async def stream(self, path: str, after: int) -> AsyncGenerator[httpx2.Response, None]:
        """Open one connection to a stream after the event `after`. A broken one, and every 5xx, is Unavailable."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(after)} if after else {})}
        async with self.get(path, headers) as response:
            yield response

    @asynccontextmanager
    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> AsyncGenerator[httpx2.Response, None]:
        """Open a response whose body the caller reads. A broken one, and every 5xx, is Unavailable."""
        timeout = httpx2.Timeout(SILENCE_SECONDS, connect=5)
        try:
            async with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
                if not response.is_success:
                    await response.aread()
                    raise self._error(response)
                yield response
        except httpx2.ConnectError:
            raise self._no_server() from None
        except (httpx2.TransportError, httpx2.DecodingError, msgspec.DecodeError) as error:
            raise self._broken(error) from None

    @asynccontextmanager
    async def exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> AsyncGenerator[httpx2.Response, None]:
        """Open a response of any status, whose body the caller reads. A broken one is Unavailable."""
        timeout = httpx2.Timeout(SILENCE_SECONDS, connect=5)
        try:
            async with self._http.stream(method, path, headers=headers, content=body, timeout=timeout) as response:
                yield response
        except httpx2.ConnectError:
            raise self._no_server() from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise self._broken(error) from None

    def _error(self, response: httpx2.Response) -> RunyardError:
        """Return the error that the server reported, or one for the status if another program answered."""
        status = response.status_code
        try:
            problem = msgspec.json.decode(response.content, type=dict[str, Any])
        except msgspec.DecodeError:
            problem = {}
        message = str(problem.get("detail") or f"The server at {self.url} answered {status} without a reason.")
        for error in problem.get("errors") or ():
            message += f" {error.get('where')}: {error.get('what')}."
        if status >= 500 or status in PASSING:
            return Unavailable(message)
        return (_BY_CODE.get(str(problem.get("code"))) or _BY_STATUS.get(status, RunyardError))(message)

    def _no_server(self) -> NoServer:
        return NoServer(f"No server answers at {self.url}; start one with `runyard dev`.")

    def _broken(self, error: Exception) -> Unavailable:
        return Unavailable(f"The connection to {self.url} broke ({type(error).__name__}).")


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def segment(text: str) -> str:
    """Return an id as one segment of a path, whatever characters it has."""
    return quote(text, safe="") or "-"


def _codes(kind: type[RunyardError]) -> dict[str, type[RunyardError]]:
    return {code: found for sub in kind.__subclasses__() for code, found in _codes(sub).items()} | {kind.code: kind}


# Errors that a server reports by code; others, such as StartupError, belong to this process.
_BY_CODE = {
    code: kind
    for root in (KeyRequired, ScopeMissing, NotFound, Gone, Invalid, Conflict, Unavailable)
    for code, kind in _codes(root).items()
}
