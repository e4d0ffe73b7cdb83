"""A model server that speaks `/v1/chat/completions` on loopback and fails as the test says.

Each request is answered by the next of the answers it was given: a list of `Act`s, done in order. What clients sent is
in `requests`; `hung_up` is set when one of them closed its connection before its answer was over.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

Act = Callable[[asyncio.StreamWriter], Awaitable[None]]


class ScriptedOpenAI:
    def __init__(self) -> None:
        self.answers: list[Sequence[Act]] = []
        self.requests: list[dict[str, Any]] = []
        self.hung_up = asyncio.Event()
        self.reached = asyncio.Event()
        self.api_base = ""

    def answer(self, *acts: Act) -> None:
        """Do this with the next request that has no answer yet."""
        self.answers.append(acts)

    def stall(self) -> Act:
        """Say nothing more until the client goes away."""

        async def act(writer: asyncio.StreamWriter) -> None:
            self.reached.set()
            await self.hung_up.wait()

        return act

    async def fastest(self, hang_up: Callable[[], Awaitable[float]], enough: float) -> float:
        """The shortest of a few hang-ups: other tests use this machine, too; what counts is what the client takes."""
        took: list[float] = []
        while len(took) < 8 and min(took, default=enough) >= enough:
            self.reached, self.hung_up = asyncio.Event(), asyncio.Event()
            took.append(await hang_up())
        return min(took)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering: asyncio.Task[None] | None = None
        try:
            while request := await _read_request(reader):
                self.requests.append(request)
                answering = asyncio.create_task(self._answer(self.answers.pop(0), writer))
                watching = asyncio.create_task(reader.read(1))
                await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
                if not answering.done():
                    self.hung_up.set()
                    return
                watching.cancel()
                answering.result()
                return
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up.set()
        finally:
            if answering is not None:
                answering.cancel()
            writer.close()

    async def _answer(self, acts: Sequence[Act], writer: asyncio.StreamWriter) -> None:
        for act in acts:
            await act(writer)
            with suppress(ConnectionError):
                await writer.drain()


@asynccontextmanager
async def scripted_openai() -> AsyncIterator[ScriptedOpenAI]:
    scripted = ScriptedOpenAI()
    server = await asyncio.start_server(scripted._serve, "127.0.0.1", 0)
    scripted.api_base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield scripted
    finally:
        scripted.hung_up.set()
        server.close()


async def _read_request(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
    )
    body: dict[str, Any] = json.loads(await reader.readexactly(length))
    return body


# --- what an answer is made of -------------------------------------------------------------------------------------


def _bytes(data: bytes) -> Act:
    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return act


def raw(text: str) -> Act:
    """These bytes, as one chunk of the body."""
    data = text.encode()
    return _bytes(b"%x\r\n%b\r\n" % (len(data), data))


def begin() -> Act:
    return _bytes(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> Act:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": choices} | more
    return raw(f"data: {json.dumps(body)}\n\n")


def text(*pieces: str) -> list[Act]:
    return [chunk({"role": "assistant", "content": piece}) for piece in pieces]


def call(index: int, *, id: str | None = None, name: str | None = None, arguments: str = "") -> Act:
    """A piece of the tool call with this index."""
    piece: dict[str, Any] = {"index": index, "function": {"arguments": arguments}}
    if id is not None:
        piece |= {"id": id, "type": "function"}
        piece["function"]["name"] = name
    return chunk({"tool_calls": [piece]})


def end(reason: str = "stop", prompt: int = 10, completion: int = 5) -> list[Act]:
    """The last chunks: why it ends, what it cost, and that this was all."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return [chunk({}, reason), chunk(usage=usage), raw("data: [DONE]\n\n"), _bytes(b"0\r\n\r\n")]


def cut() -> Act:
    """Close the connection in the middle of the body."""

    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(b'ff\r\ndata: {"cho')
        await writer.drain()
        writer.close()

    return act


def clean_end() -> Act:
    """End the body properly, without ever having said that the message is over."""
    return _bytes(b"0\r\n\r\n")


def status(code: int, message: str = "no", error_code: str | None = None, **headers: str) -> Act:
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": error_code}}).encode()
    lines = [
        f"HTTP/1.1 {code} X",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    ]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return _bytes("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
