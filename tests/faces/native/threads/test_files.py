"""Files over HTTP: uploaded once, used in messages, answers and tools, and served so that no browser runs them."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

import runyard
from runyard.agents.declared.loading import App
from runyard.base.ids import new_id
from runyard.engine.control.retention import Retention
from tests.store.content.test_files import LEFT
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 3000  # three chunks
PDF = b"%PDF-1.7 a few pages"
JSON = "application/json"


@runyard.agent
async def copier(ctx: runyard.Context) -> str:
    """Attach a copy of each file of the message, and name the files of earlier messages."""
    for file in ctx.message.files:
        await ctx.attach(f"copy of {file.name}", await file.read(), file.type)
    earlier = [file.name for message in await ctx.history() for file in message.files]
    return f"{ctx.message.text} {earlier}"


APP = App({"copier": copier}, {}, "copier")


async def upload(server: Server, data: bytes = PNG, name: str = "a.png", kind: str = "image/png") -> str:
    answer = await server.http.post("/api/files", params={"name": name}, content=data, headers={"Content-Type": kind})
    assert answer.status_code == 201, answer.text
    row = answer.json()
    assert (row["name"], row["type"], row["size"]) == (name, kind, len(data))
    return str(row["file_id"])


async def say(server: Server, thread: str, **body: Any) -> str:
    answer = await server.http.post(f"/api/threads/{thread}/messages", json=body)
    assert answer.status_code == 201, answer.text
    run_id = str(answer.json()["run_id"])
    await server.ended(run_id)
    return run_id


async def left(server: Server) -> int:
    """The number of rows about files."""
    store: Any = server.store

    async def count(tx: Any) -> int:
        return int((await tx.rows(LEFT))[0]["n"])

    return int(await store._read(count))


async def test_a_file_comes_back_as_it_was_with_headers_that_make_it_harmless(serve: Serve) -> None:
    server = await serve(APP)
    for data, name, kind, shown in (
        (PNG, "Größe 1/2.png", "image/png", "inline"),
        (b"<script>alert(1)</script>", "a.html", "text/html", "attachment"),
        (b"<svg/>", "a.svg", "image/svg+xml", "attachment"),
        (b"", "empty.txt", "text/plain", "attachment"),
    ):
        answer = await server.http.post(
            "/api/files", params={"name": name}, content=data, headers={"Content-Type": f"{kind}; charset=utf-8"}
        )
        assert answer.status_code == 201, answer.text
        path = f"/api/files/{answer.json()['file_id']}"
        got = await server.http.get(path)
        assert got.status_code == 200
        assert got.content == data
        assert got.headers["content-type"] == (kind if shown == "inline" else "application/octet-stream")
        assert got.headers["content-disposition"].startswith(f"{shown}; filename*=UTF-8''")
        assert "/" not in got.headers["content-disposition"].partition("''")[2]
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["content-security-policy"] == "default-src 'none'; sandbox"
        again = await server.http.get(path, headers={"If-None-Match": got.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert (await server.http.get(f"/api/files/{new_id()}")).status_code == 404
    assert (await server.http.get("/api/files/..%2fx")).status_code == 404


async def test_wrong_types_and_files_that_are_too_large_are_refused_and_leave_nothing(serve: Serve) -> None:
    server = await serve(APP, max_file_bytes=300_000, file_types="image/*, text/plain", max_body_bytes=1000)

    async def chunked() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b"x" * 100_000

    for content, kind, status, code in (
        (PDF, "application/pdf", 415, "wrong_type"),
        (PDF, "image/png", 415, "wrong_type"),
        (b"GIF89a", "image/jpeg", 415, "wrong_type"),
        (b"hello", "", 415, "wrong_type"),
        (b"hello", "text", 415, "wrong_type"),
        (b"x" * 300_001, "text/plain", 413, "too_large"),
        (chunked(), "text/plain", 413, "too_large"),
    ):
        answer = await server.http.post(
            "/api/files", params={"name": "a"}, content=content, headers={"Content-Type": kind}
        )
        assert (answer.status_code, answer.json()["code"]) == (status, code), kind
    for params in ({}, {"name": ""}, {"name": "a", "nmae": "b"}):
        assert (await server.http.post("/api/files", params=params, content=b"x")).status_code == 422
    assert await left(server) == 0
    await upload(server, b"x" * 300_000, "a.txt", "text/plain")


async def test_other_owners_have_no_such_file(serve: Serve) -> None:
    server = await serve(APP, keys=True)
    ann, bob = [{"Authorization": f"Bearer {await server.key(name)}"} for name in ("ann", "bob")]
    sent = await server.http.post(
        "/api/files", params={"name": "a"}, content=PNG, headers={**ann, "Content-Type": "image/png"}
    )
    file_id = sent.json()["file_id"]
    assert (await server.http.get(f"/api/files/{file_id}", headers=ann)).content == PNG
    assert (await server.http.get(f"/api/files/{file_id}", headers=bob)).status_code == 404
    assert (await server.http.get(f"/api/files/{file_id}")).status_code == 401
    thread = (await server.http.post("/api/threads", json={}, headers=bob)).json()["thread_id"]
    for body in ({"content": "look", "files": [file_id]}, {"parts": [{"type": "file", "file_id": file_id}]}):
        refused = await server.http.post(f"/api/threads/{thread}/messages", json=body, headers=bob)
        assert refused.status_code == 404
    assert (await server.http.get("/api/runs", headers=bob)).json()["runs"] == []


async def test_messages_and_answers_refer_to_files_and_the_log_has_no_bytes(serve: Serve) -> None:
    server = await serve(APP)
    thread, image, paper = (
        await server.thread(),
        await upload(server),
        await upload(server, PDF, "b.pdf", "application/pdf"),
    )
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image", "file_id": image},
        {"type": "data", "data": {"n": [1, None]}},
        {"type": "file", "file_id": paper},
    ]
    run_id = await say(server, thread, parts=parts)
    log = await server.log(run_id)
    output = next(event["data"] for event in log if event["type"] == "run.output")
    assert output["text"] == "look []"
    assert [(file["type"], file["name"]) for file in output["files"]] == [
        ("image", "copy of a.png"),
        ("file", "copy of b.pdf"),
    ]
    copied = await server.http.get(f"/api/files/{output['files'][0]['file_id']}")
    assert hashlib.sha256(copied.content).digest() == hashlib.sha256(PNG).digest()
    assert sum(len(str(event)) for event in log) < 10_000
    await say(server, thread, content="and?")
    asked, answered, plain, last = (await server.http.get(f"/api/threads/{thread}")).json()["messages"]
    assert asked["content"] == "look"
    assert [part["type"] for part in asked["parts"]] == ["text", "image", "data", "file"]
    assert asked["parts"][1] == {
        "type": "image", "file_id": image, "name": "a.png", "media_type": "image/png", "size": len(PNG),
    }  # fmt: skip
    assert [part["type"] for part in answered["parts"]] == ["text", "image", "file"]
    assert "parts" not in plain, "plain text keeps its format"
    assert last["content"] == "and? ['a.png', 'b.pdf', 'copy of a.png', 'copy of b.pdf']"
    # the copies of equal content share their bytes
    assert await left(server) == 4 + 2 + 4 + 4  # files, contents, chunks (three and one), uses


async def test_bodies_that_say_too_little_or_too_much_are_refused(serve: Serve) -> None:
    server = await serve(APP)
    thread, paper = await server.thread(), await upload(server, PDF, "b.pdf", "application/pdf")
    bodies: list[dict[str, Any]] = [
        {},
        {"content": "", "files": [paper]},
        {"content": "look", "parts": [{"type": "text", "text": "look"}]},
        {"parts": []},
        {"parts": [{"type": "video", "file_id": paper}]},
        {"parts": [{"type": "image", "file_id": paper}]},
        {"parts": [{"type": "text", "text": "x"}] * 101},
    ]
    for body in bodies:
        answer = await server.http.post(f"/api/threads/{thread}/messages", json=body)
        assert answer.status_code == 422, body
    assert (await server.http.post(f"/api/threads/{thread}/messages", json={})).json()["errors"] == [
        {"where": "body.content", "what": "Field required"}
    ]


async def test_files_are_deleted_with_their_thread_and_by_retention(serve: Serve) -> None:
    server = await serve(APP)
    kept, threads = await upload(server), [await server.thread() for _ in range(2)]
    for thread in threads:
        await say(server, thread, content="look", files=[kept])
    assert (await server.http.delete(f"/api/threads/{threads[0]}")).status_code == 204
    assert (await server.http.get(f"/api/files/{kept}")).content == PNG, "another message has it"

    class Tomorrow:
        def now_ms(self) -> int:
            return server.process.engine.files._clock.now_ms() + 86_400_000

    assert await Retention(server.store, Tomorrow(), 0.5).sweep() == 1  # type: ignore[arg-type]
    assert (await server.http.get(f"/api/files/{kept}")).status_code == 404
    assert await left(server) == 0


async def test_an_upload_whose_client_disconnects_leaves_nothing(serve: Serve) -> None:
    server = await serve(APP)
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = (
        f"POST /api/files?name=a HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: {len(PNG)}"
    )
    writer.write(f"{head}\r\n\r\n".encode() + PNG[:-1])
    await writer.drain()

    async def has_chunks() -> bool:
        return await left(server) >= 3

    await eventually("chunks are stored", has_chunks)
    writer.transport.abort()

    async def is_clean() -> bool:
        return await left(server) == 0

    await eventually("the upload is deleted", is_clean)


async def test_a_steered_message_brings_its_file_to_the_run(serve: Serve) -> None:
    waiting, seen = asyncio.Event(), asyncio.Event()

    @runyard.agent
    async def listener(ctx: runyard.Context) -> str:
        waiting.set()
        await seen.wait()
        return " ".join([(await file.read()).decode() for m in await ctx.new_messages() for file in m.files])

    server = await serve(App({"listener": listener}, {}, "listener"))
    thread, note = await server.thread(), await upload(server, b"turn left", "a.txt", "text/plain")
    first = await server.http.post(f"/api/threads/{thread}/messages", json={"content": "go"})
    await asyncio.wait_for(waiting.wait(), 30)
    body = {"content": "read this", "files": [note], "while_running": "steer"}
    answer = await server.http.post(f"/api/threads/{thread}/messages", json=body)
    assert answer.json() == {"run_id": first.json()["run_id"], "steered": True}
    seen.set()
    log = await server.log(answer.json()["run_id"])
    assert next(event["data"]["text"] for event in log if event["type"] == "run.output") == "turn left"


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_the_client_uploads_and_downloads(serve: Serve, tmp_path: Any) -> None:
    server = await serve(APP)
    (tmp_path / "a.png").write_bytes(PNG)
    async with runyard.Client(f"http://127.0.0.1:{server.port}") as client:
        made = await client.upload(tmp_path / "a.png")
        assert (made.name, made.type, made.size) == ("a.png", "image/png", len(PNG))
        assert await client.download(made.file_id) == PNG
        run_id = await client.post(await client.create_thread(), "look", files=[made.file_id])
        files = [event.data["files"] async for event in client.follow(run_id) if event.type == "run.output"]
        assert await client.download(files[0][0]["file_id"]) == PNG
        with pytest.raises(runyard.errors.NotFound):
            await client.download(new_id())
        with pytest.raises(runyard.errors.WrongType):
            await client.upload(PDF, "a.png")
