"""The in-process transport: what an ASGI app sends arrives as it is sent, and a cut is a cut."""

import asyncio
from typing import Any

import httpx2
import pytest

from tests.support.in_process.asgi_transport import AsgiTransport


def client_of(app: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=AsgiTransport(app), base_url="http://app")


async def test_a_request_arrives_whole_and_its_answer_comes_back() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        said = [scope["method"], scope["path"], scope["query_string"].decode(), body.decode()]
        await send({"type": "http.response.start", "status": 201, "headers": [(b"x-kind", b"test")]})
        await send({"type": "http.response.body", "body": " ".join(said).encode()})

    async with client_of(app) as client:
        answer = await client.post("/a%20b?c=d", content=b"body")
    assert (answer.status_code, answer.headers["x-kind"], answer.text) == (201, "test", "POST /a b c=d body")


async def test_a_stream_is_read_while_it_is_written() -> None:
    read = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await read.wait()
        await send({"type": "http.response.body", "body": b"second"})

    chunks = []
    async with client_of(app) as client, client.stream("GET", "/") as answer:
        async for chunk in answer.aiter_bytes():
            chunks.append(chunk)
            read.set()
    assert chunks == [b"first", b"second"]


async def test_an_app_that_stops_in_the_middle_is_a_broken_connection() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        raise ValueError("cut")

    async with client_of(app) as client:
        with pytest.raises(httpx2.ReadError):
            await client.get("/")


async def test_an_app_that_fails_before_it_answers_raises_what_it_raised() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError("early")

    async with client_of(app) as client:
        with pytest.raises(ValueError, match="early"):
            await client.get("/")


async def test_a_reader_that_leaves_ends_the_app() -> None:
    ended = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while True:
                await send({"type": "http.response.body", "body": b"more", "more_body": True})
        finally:
            ended.set()

    async with asyncio.timeout(5):
        async with client_of(app) as client, client.stream("GET", "/") as answer:
            async for _ in answer.aiter_bytes():
                await asyncio.sleep(0)  # the app is ahead by as much as it may
                break
        await ended.wait()
