"""Any request gets a 4xx or a success, and the server keeps serving."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import Serve, Server

MEMORY = pytest.mark.parametrize("backend", ["memory"])
JSON = {"content-type": "application/json"}

BODIES = {
    "broken utf-8": (b'{"content":"\xff\xfe"}', 400),
    "overlong utf-8": (b'{"content":"\xc0\x80"}', 400),
    "a lone surrogate": (rb'{"content":"\ud800"}', 400),
    "a lone surrogate in a key": (rb'{"content":"x","\udfff":1}', 400),
    "surrogates the wrong way round": (rb'{"content":"\udc00\ud800"}', 400),
    "a raw surrogate": (b'{"content":"\xed\xa0\x80"}', 400),
    "deep lists": (b"[" * 10_000 + b"]" * 10_000, 400),
    "deep objects": (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, 400),
    "deep and never closed": (b"[" * 500_000, 400),
    "a number out of range": (b'{"content":1e999}', 400),
    "a huge integer": (b'{"content":' + b"9" * 5000 + b"}", 4),
    "a huge exponent": (b'{"content":1e-999999999}', 4),
    "NaN": (b'{"content":NaN}', 400),
    "no body": (b"", 4),
    "white space": (b"  \n", 400),
    "a byte order mark": (b'\xef\xbb\xbf{"content":"x"}', 400),
    "utf-16": ('{"content":"x"}'.encode("utf-16"), 400),
    "two values": (b'{"content":"x"}{}', 400),
    "a trailing comma": (b'{"content":"x",}', 400),
    "a raw line break": (b'{"content":"a\nb"}', 4),
    "a list": (b"[]", 422),
    "null": (b"null", 422),
    "text": (b'"content"', 422),
    "a number": (b"1", 422),
    "empty text": (b'{"content":""}', 422),
    "a form": (b"content=x", 400),
    "zeros": (b"\0" * 1000, 400),
}


@MEMORY
@pytest.mark.parametrize("what", list(BODIES))
async def test_a_body_that_is_not_a_message_is_refused(server: Server, what: str) -> None:
    body, expected = BODIES[what]
    thread_id = await server.thread()
    for path in (f"/api/threads/{thread_id}/messages", "/api/approvals/x"):
        answer = await server.http.post(path, content=body, headers=JSON)
        assert answer.status_code == expected or answer.status_code // 100 == expected, path
        assert answer.headers["content-type"] == "application/problem+json"
    if expected == 400:
        assert (await server.http.post("/api/threads", content=body, headers=JSON)).status_code == 400
    assert (await server.http.get("/api/runs")).json()["runs"] == []


async def test_any_text_can_be_said_and_is_kept_except_nul(server: Server) -> None:
    for content in (
        "a\u0000b",
        "\u0000",
        "\ufffe\uffff",
        "\U0010ffff",
        "\u202e\u200b",
        "🦜" * 1000,
        "\r\n\x85\u2028\x0b",
    ):
        thread_id = await server.thread()
        run_id = await server.post("happy", content, thread_id)
        await server.ended(run_id)
        said = (await server.http.get(f"/api/threads/{thread_id}")).json()["messages"]
        assert said[0]["content"] == content.replace("\u0000", "\ufffd")


@MEMORY
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "garbage", "/", "", "a/b/c"],
)
async def test_json_that_is_not_declared_as_such_is_refused(server: Server, kind: str) -> None:
    """A page of another origin may send plain text and forms without asking; it must not start runs."""
    thread_id = await server.thread()
    for path, body in (("/api/threads", b"{}"), (f"/api/threads/{thread_id}/messages", b'{"content":"x"}')):
        answer = await server.http.post(path, content=body, headers={"content-type": kind})
        assert (answer.status_code, answer.json()["code"]) == (422, "not_declared_json"), path
        assert "Content-Type: application/json" in answer.json()["detail"]
        assert answer.headers["content-type"] == "application/problem+json"
    answer = await server.http.post(
        f"/api/threads/{thread_id}/messages",
        content=b'{"content":"x"}',
        headers={"content-type": "Application/JSON ; charset=utf-8"},
    )
    assert answer.status_code == 201


async def slowly(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // 1000):
        yield b" " * 1000


@MEMORY
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/api/threads"), ("GET", "/api/threads"), ("DELETE", "/api/threads/x")]
)
async def test_a_body_over_the_limit_is_refused_declared_or_not(serve: Serve, method: str, path: str) -> None:
    server = await serve(max_body_bytes=10_000)
    declared = await server.http.request(method, path, content=b" " * 10_001)
    chunked = await server.http.request(method, path, content=slowly(20_000))
    assert (declared.status_code, chunked.status_code) == (413, 413)
    assert declared.json()["code"] == chunked.json()["code"] == "too_large"
    assert (await server.http.get("/health")).status_code == 200


@MEMORY
async def test_a_body_of_exactly_the_limit_is_read(serve: Serve) -> None:
    server = await serve(max_body_bytes=1000)
    thread_id = await server.thread()
    body = b'{"content":"%b"}' % (b"x" * (1000 - len('{"content":""}')))
    assert len(body) == 1000
    path = f"/api/threads/{thread_id}/messages"
    assert (await server.http.post(path, content=body, headers=JSON)).status_code == 201
    assert (await server.http.post(path, content=body + b" ", headers=JSON)).status_code == 413


@MEMORY
@pytest.mark.parametrize("length", [b"99999999999", b"9" * 30, b"9" * 5000, b"-1", b"abc", b"", b"1, 2", b"0x10", b" "])
async def test_a_length_that_cannot_be_is_refused_before_anything_is_read(server: Server, length: bytes) -> None:
    """Refused by the HTTP parser or by the app, with a response or a closed connection; the server keeps serving."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"POST /api/threads HTTP/1.1\r\nhost: x\r\ncontent-length: " + length + b"\r\n\r\n")
    async with asyncio.timeout(PATIENCE):
        status = await reader.readline()
    assert status.split()[1] in (b"400", b"413")
    writer.close()
    assert (await server.http.get("/health")).status_code == 200


@MEMORY
async def test_ids_and_keys_of_any_length_and_kind_are_just_unknown(server: Server) -> None:
    for odd in ("x" * 8000, "%2e%2e%2f" * 20, "%F0%9F%A6%9C", "%ff%fe", "%00", "a b", "0" * 36, "NULL", "1e9"):
        for path in ("/api/threads/{}", "/api/runs/{}", "/api/runs/{}/events", "/api/runs/{}/state"):
            assert (await server.http.get(path.format(odd))).status_code == 404, path
        decided = await server.http.post(f"/api/approvals/{odd}", json={"decision": "approve"})
        assert decided.status_code == 404


async def test_a_key_may_be_any_text_that_a_header_can_carry(server: Server) -> None:
    for key in ("ü".encode("latin-1"), b"'; drop table runs; --", b"a\tb", b"x" * 200, b"\xff"):
        answers = [await server.http.post("/api/threads", headers={b"Idempotency-Key": key}) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [201, 201], key
        assert answers[0].json() == answers[1].json()


async def test_a_question_with_hundreds_of_levels_is_listed_and_decided(server: Server) -> None:
    run_id = await server.post("deep")
    approval_id = await server.waiting(run_id)
    listed = await server.http.get("/api/approvals")
    assert listed.status_code == 200
    assert b'"bottom"' in listed.content
    decided = await server.http.post(f"/api/approvals/{approval_id}", json={"decision": "approve"})
    assert decided.status_code == 200
    assert (await server.ended(run_id)).wire[-1] == ("state", {"status": "done"})


@pytest.mark.parametrize("levels", [250, 500, 900, 940, 960, 1000, 5000])
@MEMORY
async def test_an_edited_input_of_any_depth_that_does_not_fit_is_refused_and_decides_nothing(
    server: Server, levels: int
) -> None:
    run_id = await server.post("mails")
    approval_id = await server.waiting(run_id)
    body = b'{"decision":"approve","input":{"to":' + b"[" * levels + b"]" * levels + b"}}"
    answer = await server.http.post(f"/api/approvals/{approval_id}", content=body, headers=JSON)
    assert answer.status_code in (400, 422)
    rejected = await server.http.post(f"/api/approvals/{approval_id}", json={"decision": "reject"})
    assert rejected.status_code == 200
    assert (await server.ended(run_id)).wire[-1] == ("state", {"status": "error"})
    assert (await server.http.get(f"/api/runs/{run_id}/state")).status_code == 200
