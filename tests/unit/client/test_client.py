"""The client: every event once and in order over breaking connections; nothing created twice; Runyard's errors."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import msgspec
import pytest

from runyard.client import Client
from runyard.client.connection import back_off
from runyard.errors import (
    AgentError,
    AlreadyDecided,
    Conflict,
    Invalid,
    KeyReused,
    NotFound,
    RunActive,
    RunyardError,
    TooLarge,
    Unavailable,
)
from tests.unit.client.fake_server import LOG, FakeServer, after_of, event, frame, problem, stream

CUT = httpx2.ReadError("cut")
REFUSED = httpx2.ConnectError("refused")
SEQS = [entry["seq"] for entry in LOG]


def client_of(server: httpx2.AsyncBaseTransport, attempts: int = 10) -> Client:
    return Client("http://server", transport=server, attempts=attempts, back_off=lambda failures: 0)


async def seqs_of(server: FakeServer, after: int = 0, attempts: int = 10) -> list[int]:
    async with client_of(server, attempts) as client:
        return [event.seq async for event in client.follow("r", after)]


def cut_at_byte(byte: int, broken: Exception | None = CUT) -> Callable[[httpx2.Request], httpx2.Response]:
    """The first connection carries so many bytes of the stream."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        whole = b"".join(frame(entry) for entry in LOG if entry["seq"] > after_of(request))
        return stream([whole[:byte]], broken)

    return answer


def made(**values: Any) -> Callable[[httpx2.Request], httpx2.Response]:
    return lambda request: httpx2.Response(201, content=msgspec.json.encode(values))


# --- follow


async def test_follow_gives_every_event_once_and_ends_after_the_last() -> None:
    server = FakeServer()
    async with client_of(server) as client:
        events = [event async for event in client.follow("r")]
    assert [event.seq for event in events] == SEQS
    assert events[3].data == {"text": "Grüße, "}
    assert len(server.requests) == 1


@pytest.mark.parametrize("broken", [CUT, None], ids=["cut", "clean end"])
async def test_a_connection_that_ends_at_any_byte_loses_and_repeats_nothing(broken: Exception | None) -> None:
    length = sum(len(frame(entry)) for entry in LOG)
    for byte in range(length):
        assert await seqs_of(FakeServer(cut_at_byte(byte, broken))) == SEQS


async def test_a_connection_cut_after_every_single_event_goes_on_from_the_last_one() -> None:
    one_each = [lambda request: stream([frame(LOG[after_of(request)])], CUT) for _ in LOG]
    server = FakeServer(*one_each)
    assert await seqs_of(server, attempts=2) == SEQS
    assert [after_of(request) for request in server.requests] == [0, *SEQS[:-1]]


@pytest.mark.parametrize("after", SEQS)
async def test_following_from_any_seq_gives_what_comes_after_it(after: int) -> None:
    assert await seqs_of(FakeServer(), after) == [seq for seq in SEQS if seq > after]


@pytest.mark.parametrize(
    "fault",
    [
        REFUSED,
        httpx2.ConnectTimeout("slow"),
        httpx2.ReadTimeout("silent"),
        httpx2.RemoteProtocolError("incomplete"),
        lambda request: problem(503, "unavailable", "The database is not available."),
        lambda request: httpx2.Response(502, content=b"<html>"),
        lambda request: httpx2.Response(500, content=b""),
        lambda request: httpx2.Response(429, content=b""),
        lambda request: stream([b"id: 1\ndata: {broken\n\n"]),
    ],
)
async def test_passing_trouble_is_waited_out(fault: Any) -> None:
    assert await seqs_of(FakeServer(*[fault] * 9)) == SEQS


async def test_trouble_without_progress_is_given_up_after_the_limit() -> None:
    server = FakeServer(*[REFUSED] * 10)
    with pytest.raises(Unavailable, match="No server answers at http://server; start one with `runyard dev`"):
        await seqs_of(server)
    assert len(server.requests) == 10


async def test_progress_resets_the_count_of_failures() -> None:
    faults = [fault for n in range(6) for fault in (REFUSED, REFUSED, lambda r: stream([frame(LOG[after_of(r)])], CUT))]
    assert await seqs_of(FakeServer(*faults), attempts=4) == SEQS


async def test_events_that_come_twice_are_given_once() -> None:
    server = FakeServer(lambda request: stream([frame(entry) for entry in LOG[:3]], CUT))
    server.faults.append(lambda request: stream([frame(entry) for entry in LOG]))
    assert await seqs_of(server) == SEQS


async def test_a_missing_event_is_fetched_and_never_skipped() -> None:
    server = FakeServer(lambda request: stream([frame(LOG[0]), frame(LOG[1]), frame(LOG[4])]))
    assert await seqs_of(server) == SEQS


async def test_a_server_that_keeps_leaving_out_an_event_is_given_up() -> None:
    server = FakeServer()
    server.log = [entry for entry in LOG if entry["seq"] != 4]
    with pytest.raises(Unavailable, match="left out an event"):
        await seqs_of(server)


async def test_a_stream_that_ends_before_its_run_is_opened_again() -> None:
    server = FakeServer(lambda request: stream([frame(LOG[0])]), status="running")
    assert await seqs_of(server) == SEQS


async def test_comments_do_not_end_or_advance_anything() -> None:
    server = FakeServer(lambda request: stream([b": ping\n\n", frame(LOG[0]), b": ping\n\n"], CUT))
    assert await seqs_of(server) == SEQS
    assert [after_of(request) for request in server.requests] == [0, 1]


async def test_an_unknown_run_is_said_at_once() -> None:
    server = FakeServer(lambda request: problem(404, "not_found", "There is no run with that id."))
    with pytest.raises(NotFound, match="no run with that id"):
        await seqs_of(server)
    assert len(server.requests) == 1


async def test_a_socket_that_is_reset_in_the_middle_is_resumed() -> None:
    """The same over a real connection: the server resets it after every event."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        after = int(asked.partition("last-event-id: ")[2].partition("\r\n")[0] or 0)
        body = frame(LOG[after])
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        writer.write(head + b"%x\r\n%b\r\n" % (len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Client(f"http://127.0.0.1:{port}", back_off=lambda failures: 0) as client:
        assert [event.seq async for event in client.follow("r")] == SEQS


def test_pauses_grow_from_a_tenth_of_a_second_to_five_seconds_and_vary() -> None:
    for failures in range(1, 60):
        longest = min(5.0, 0.1 * 2 ** (failures - 1))
        assert longest / 2 <= back_off(failures) <= longest
    assert len({back_off(3) for _ in range(20)}) > 1


# --- requests


async def test_a_post_whose_answer_was_lost_is_repeated_with_the_same_key_and_body() -> None:
    server = FakeServer(CUT, REFUSED, lambda r: problem(503, "unavailable", "Away."), made(run_id="r", message_id="m"))
    async with client_of(server) as client:
        assert await client.post("t", "hello", agent="a") == "r"
    assert len({request.headers["idempotency-key"] for request in server.requests}) == 1
    assert {bytes(body) for body in server.bodies} == {b'{"content":"hello","agent":"a"}'}
    assert len(server.requests) == 4


async def test_two_posts_have_two_keys_unless_one_is_given() -> None:
    server = FakeServer(*[made(run_id="r")] * 4)
    async with client_of(server) as client:
        for key in (None, None, "k", "k"):
            await client.post("t", "hello", idempotency_key=key)
    first, second, *rest = [request.headers["idempotency-key"] for request in server.requests]
    assert first != second
    assert rest == ["k", "k"]


async def test_a_request_is_given_up_after_the_limit() -> None:
    server = FakeServer(*[CUT] * 3)
    async with client_of(server, attempts=3) as client:
        with pytest.raises(Unavailable, match=r"The connection to http://server broke \(ReadError\)"):
            await client.create_thread()
    assert len(server.requests) == 3


async def test_a_refused_connection_is_said_at_once_with_what_to_do() -> None:
    server = FakeServer(REFUSED)
    async with client_of(server) as client:
        with pytest.raises(Unavailable, match="No server answers at http://server; start one with `runyard dev`"):
            await client.create_thread()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "ask", [lambda client: client.reject("a", reason="no"), lambda client: client.delete_thread("t")]
)
async def test_requests_that_may_not_be_repeated_are_sent_once(ask: Callable[[Client], Any]) -> None:
    server = FakeServer(CUT)
    async with client_of(server) as client:
        with pytest.raises(Unavailable):
            await ask(client)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (404, "not_found", NotFound),
        (409, "run_active", RunActive),
        (409, "idempotency_key_reused", KeyReused),
        (409, "already_decided", AlreadyDecided),
        (409, "something_newer", Conflict),
        (413, "too_large", TooLarge),
        (422, "invalid", Invalid),
        (500, "internal", Unavailable),
        (418, "startup", RunyardError),
    ],
)
async def test_a_problem_becomes_the_error_it_was(status: int, code: str, kind: type[RunyardError]) -> None:
    server = FakeServer(lambda request: problem(status, code, "What the server said."))
    async with client_of(server) as client:
        with pytest.raises(RunyardError) as caught:
            await client.run("x")
    assert type(caught.value) is kind
    assert caught.value.message == "What the server said."


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"a":1}'])
async def test_an_answer_of_something_else_is_one_sentence(body: bytes) -> None:
    async with client_of(FakeServer(lambda request: httpx2.Response(200, content=body))) as client:
        with pytest.raises(RunyardError, match="not a Runyard server"):
            await client.run("x")


async def test_runs_walks_all_pages_in_order() -> None:
    def page(first: int, last: int, following: str | None) -> Callable[[httpx2.Request], httpx2.Response]:
        rows = [{"run_id": str(n), "status": "done", "created_at": "x", "new_field": 1} for n in range(first, last)]
        return lambda request: httpx2.Response(200, content=msgspec.json.encode({"runs": rows, "next": following}))

    server = FakeServer(page(0, 3, "2"), page(3, 5, "4"), page(5, 5, None))
    async with client_of(server) as client:
        assert [run.run_id async for run in client.runs(status="done")] == ["0", "1", "2", "3", "4"]
    asked = [dict(request.url.params) for request in server.requests]
    assert [params.get("before") for params in asked] == [None, "2", "4"]
    assert {params["status"] for params in asked} == {"done"}


async def test_answer_is_the_final_text() -> None:
    async with client_of(FakeServer(made(run_id="r"))) as client:
        assert await client.answer("t", "hello") == "Grüße, 🦜"


class Invoice(msgspec.Struct):
    total: float


async def test_answer_is_the_structured_answer_as_a_type() -> None:
    server = FakeServer(made(run_id="r"))
    output = event(2, "run.output", text='{"total": 1.5}', sources=[], outputs={"total": 1.5})
    server.log = [LOG[0], output, event(3, "run.finished", status="done", stop_reason="end_turn")]
    async with client_of(server) as client:
        assert await client.answer("t", "hello", as_type=Invoice) == Invoice(1.5)
    other = FakeServer(made(run_id="r"))
    other.log = [LOG[0], event(2, "run.output", text="1.5", sources=[], outputs={}), server.log[2]]
    async with client_of(other) as client:
        with pytest.raises(Invalid, match="total"):
            await client.answer("t", "hello", as_type=Invoice)


@pytest.mark.parametrize(
    ("last", "says"),
    [
        (event(2, "run.error", code="poison", message="It broke."), "It broke."),
        (event(2, "run.canceled", reason="requested"), "The run was canceled."),
    ],
)
async def test_answer_raises_what_ended_a_run_without_one(last: dict[str, Any], says: str) -> None:
    server = FakeServer(made(run_id="r"))
    server.log = [LOG[0], last, event(3, "run.finished", status="error", stop_reason="error")]
    async with client_of(server) as client:
        with pytest.raises(AgentError, match=says):
            await client.answer("t", "hello")


async def test_a_token_goes_along_and_an_odd_id_stays_one_segment() -> None:
    server = FakeServer()
    async with Client("http://server/", api_key="secret", transport=server) as client:
        with pytest.raises(NotFound):
            await client.run("../threads?x=1")
    assert server.requests[0].headers["authorization"] == "Bearer secret"
    assert server.requests[0].url.raw_path == b"/api/runs/..%2Fthreads%3Fx%3D1"
