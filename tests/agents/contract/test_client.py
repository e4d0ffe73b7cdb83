"""The client accepts all styles of the contract and never reports a result that the agent did not send."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from runyard.contract.breaker import FAILURES, OPEN_SECONDS, Breaker
from runyard.contract.client import ContractClient
from runyard.contract.result import Progress, Result
from runyard.contract.timeouts import Timeouts
from runyard.errors import RemoteBroken, RemoteFailed, RemoteTimedOut, RemoteUnavailable
from tests.agents.contract.agent_server import (
    GOOD,
    TASK,
    Reply,
    as_json,
    as_stream,
    envelope,
    event,
    frames,
    refusal,
    served,
)

REQUEST = {"request_id": "r", "task_type": TASK, "inputs": {}}
ANSWER = Result({"answer": 42})


@asynccontextmanager
async def client(url: str, **timeouts: float) -> AsyncIterator[ContractClient]:
    async with httpx2.AsyncClient(trust_env=False, verify=False) as http:
        yield ContractClient(http, url, Timeouts(**timeouts))


async def streamed(url: str, **timeouts: float) -> list[Progress | Result]:
    async with client(url, **timeouts) as asking:
        return [one async for one in asking.stream(REQUEST)]


async def answered(url: str, **timeouts: float) -> Result:
    async with client(url, **timeouts) as asking:
        return await asking.sync(REQUEST)


@asynccontextmanager
async def raw(pieces: list[bytes], *, close: bool = True) -> AsyncIterator[str]:
    """Start a server that sends these bytes as the body of a stream, each in its own packet."""
    release = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        if not close:
            await release.wait()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        release.set()
        server.close()


STYLES: dict[str, bytes] = {
    "final": event("final", envelope(REQUEST)),
    "complete": event("complete", envelope(REQUEST)),
    "done": event("done", envelope(REQUEST)),
    "status success": event("final", envelope(REQUEST, status="success")),
    "only ok": event("final", envelope(REQUEST, status=None, ok=True)),
    "only success": event("done", envelope(REQUEST, status="completed", success=True)),
    "data in the place of outputs": event(
        "done", {"request_id": "r", "task_type": TASK, "status": "ok", "data": {"answer": 42}}
    ),
    "several data lines": b"event: final\n"
    + b"".join(b"data: " + line + b"\n" for line in json.dumps(envelope(REQUEST), indent=1).encode().split(b"\n"))
    + b"\n",
    "comments, ids and CRLF": b": hi\r\n\r\nid: 3\r\n" + event("final", envelope(REQUEST)).replace(b"\n", b"\r\n"),
    "the name in the data": event("x", envelope(REQUEST, event="final")).partition(b"\n")[2],
}


@pytest.mark.req("S2.11", "S2.14", "S2.17", "S2.22", "S2.33")
@pytest.mark.parametrize("style", STYLES)
async def test_every_style_of_a_terminal_event_is_a_result(style: str) -> None:
    async with raw([b"".join(frames(REQUEST)[:2]), STYLES[style]]) as url:
        started, progress, result = await streamed(url)
    assert isinstance(started, Progress)
    assert progress == Progress("progress", {"percent": 50})
    assert result == ANSWER


@pytest.mark.req("S2.14")
async def test_a_stream_may_come_byte_by_byte() -> None:
    said = json.dumps({"text": "Grüße 🦀"}, ensure_ascii=False).encode()
    whole = event("final", envelope(REQUEST, outputs="@")).replace(b'"@"', said)
    async with raw([bytes([byte]) for byte in whole]) as url:
        assert await streamed(url) == [Result({"text": "Grüße 🦀"})]


@pytest.mark.req("S2.18", "S2.21", "S2.22")
async def test_a_stream_that_is_cut_at_any_byte_of_its_terminal_event_is_an_error() -> None:
    before, terminal = b"".join(frames(REQUEST)[:2]), frames(REQUEST)[2]
    for cut in range(len(terminal)):
        async with raw([before + terminal[:cut]]) as url:
            with pytest.raises(RemoteBroken):
                await streamed(url)
    async with raw([before + terminal]) as url:
        assert (await streamed(url))[-1] == ANSWER


@pytest.mark.req("S2.21")
async def test_a_connection_that_breaks_is_an_error() -> None:
    reply = Reply(kind="text/event-stream", body=frames(REQUEST)[0], cut=True)
    with served(GOOD.but(stream=lambda _: reply, sync=lambda _: reply)) as agent:
        with pytest.raises(RemoteBroken):
            await streamed(agent.url)
        with pytest.raises(RemoteBroken):
            await answered(agent.url)


@pytest.mark.req("S2.10", "S2.11", "S2.33")
@pytest.mark.parametrize("other", [{}, {"status": "success"}, {"status": None, "ok": True}, {"outputs": {}}])
async def test_every_style_of_a_sync_answer_is_a_result(other: dict[str, Any]) -> None:
    with served(GOOD.but(sync=lambda a: as_json(envelope(a, **other)))) as agent:
        assert await answered(agent.url) == Result(other.get("outputs", {"answer": 42}))


@pytest.mark.req("S2.12")
async def test_artifacts_warnings_and_grounding_are_part_of_the_result() -> None:
    more = {"grounding": {"citations": ["d"]}, "artifacts": ["a"], "warnings": ["w"]}
    with served(GOOD.but(sync=lambda a: as_json(envelope(a, **more)))) as agent:
        found = await answered(agent.url)
    assert (found.grounding, found.artifacts, found.warnings) == ({"citations": ["d"]}, ["a"], ["w"])


FAILURES_TOLD: dict[str, tuple[dict[str, Any], str]] = {
    "an error with a code": (
        {"status": "error", "error": {"code": "VALIDATION_ERROR", "message": "x"}},
        "VALIDATION_ERROR",
    ),
    "an error without one": ({"status": "error"}, "TASK_FAILED"),
    "an error whose code is a sentence": ({"status": "error", "error": {"code": "It hurts."}}, "TASK_FAILED"),
    "not ok": ({"ok": False}, "TASK_FAILED"),
    "neither": ({"status": "finished"}, "TASK_FAILED"),
    "both at once": ({"status": "ok", "ok": False}, "TASK_FAILED"),
    "a success with an error": ({"error": {"code": "X"}}, "X"),
}


@pytest.mark.req("S2.10", "S2.19", "S2.21")
@pytest.mark.parametrize("kind", FAILURES_TOLD)
async def test_an_answer_that_does_not_report_success_is_an_error(kind: str) -> None:
    other, code = FAILURES_TOLD[kind]
    behaviour = GOOD.but(sync=lambda a: as_json(envelope(a, **other)), stream=lambda a: as_stream(*frames(a, **other)))
    with served(behaviour) as agent:
        assert await answered(agent.url) == Result(error=code)
        assert (await streamed(agent.url))[-1] == Result(error=code)


@pytest.mark.req("S2.7")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"error": {"code": "UNSUPPORTED_TASK_TYPE"}}, "UNSUPPORTED_TASK_TYPE"),
        ({"detail": {"error": {"code": "UNSUPPORTED_TASK_TYPE"}}}, "UNSUPPORTED_TASK_TYPE"),
        (refusal(REQUEST), "REFUSED"),
        (["no"], "REFUSED"),
    ],
)
async def test_a_refusal_is_an_answer(body: Any, code: str) -> None:
    behaviour = GOOD.but(sync=lambda _: as_json(body, 400), stream=lambda _: as_json(body, 422))
    with served(behaviour) as agent:
        assert await answered(agent.url) == Result(error=code)
        assert await streamed(agent.url) == [Result(error=code)]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (as_json({}, 500), RemoteUnavailable),
        (as_json({}, 302), RemoteUnavailable),
        (as_json([]), RemoteBroken),
        (Reply(body=b"{"), RemoteBroken),
        (as_json(envelope({"request_id": "other"})), RemoteBroken),
        (as_json({"request_id": "r", "status": "ok"}), RemoteBroken),
    ],
)
async def test_an_answer_outside_the_contract_is_an_error(reply: Reply, error: type[RemoteFailed]) -> None:
    with served(GOOD.but(sync=lambda _: reply, stream=lambda _: reply)) as agent:
        with pytest.raises(error):
            await answered(agent.url)
        with pytest.raises(RemoteUnavailable if reply.status != 200 else RemoteBroken):
            await streamed(agent.url)


async def test_an_unreachable_service_is_unavailable() -> None:
    with served() as agent:
        url = agent.url
    with pytest.raises(RemoteUnavailable):
        await answered(url)
    with pytest.raises(RemoteUnavailable):
        await streamed(url)


@pytest.mark.parametrize("limits", [{"idle": 0.1}, {"stream": 0.1}], ids=["silent", "endless"])
async def test_a_stream_that_takes_too_long_times_out(limits: dict[str, float]) -> None:
    async with raw([frames(REQUEST)[0]], close=False) as url:
        with pytest.raises(RemoteTimedOut):
            await streamed(url, **limits)


async def test_an_answer_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runyard.contract.client.MOST_BYTES", 1000)
    async with raw([b": " + b"x" * 2000], close=False) as url:
        with pytest.raises(RemoteBroken):
            await streamed(url)


def test_the_timeouts_are_those_of_the_contract_and_within_the_budget() -> None:
    assert Timeouts() == Timeouts(30, 300, 60)
    assert Timeouts().within(45) == Timeouts(30, 45, 45)


def test_five_failures_open_the_breaker_for_a_minute_and_two_successes_close_it() -> None:
    time = 0.0
    breaker = Breaker(lambda: time)

    def state() -> str:
        return breaker.state

    for _ in range(FAILURES - 1):
        breaker.failed()
    breaker.succeeded()
    for _ in range(FAILURES - 1):
        breaker.failed()
        assert state() == "closed"
    breaker.failed()
    assert state() == "open"
    time = OPEN_SECONDS - 0.1
    assert state() == "open"
    time = OPEN_SECONDS
    assert state() == "half open"
    breaker.succeeded()
    assert state() == "half open"
    breaker.failed()
    assert state() == "open"
    time *= 2
    breaker.succeeded()
    breaker.succeeded()
    assert state() == "closed"
    breaker.failed()
    assert state() == "closed"
