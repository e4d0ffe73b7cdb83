"""Files inside of requests of other protocols: they are stored like uploads, and bad ones decide nothing."""

from base64 import b64encode
from typing import Any

import pytest

import runyard
from runyard.agents.declared.loading import App
from tests.faces.native.threads.test_files import upload
from tests.support.in_process.live_server import Serve, Server

PNG = b"\x89PNG\r\n\x1a\n and so on"
IMAGE = "data:image/png;base64," + b64encode(PNG).decode()


@runyard.agent
async def viewer(ctx: runyard.Context) -> str:
    seen = [f"{file.name} {file.type} {len(await file.read())}" for file in ctx.message.files]
    return f"{ctx.message.text}: {', '.join(seen)}"


APP = App({"viewer": viewer}, {}, "viewer")


async def respond(server: Server, *content: dict[str, Any]) -> Any:
    body = {"model": "viewer", "input": [{"role": "user", "content": list(content)}]}
    return await server.http.post("/v1/responses", json=body)


async def chat(server: Server, name: str, *parts: dict[str, Any], **more: Any) -> Any:
    body = {"id": name, "messages": [{"id": "m1", "role": "user", "parts": list(parts)}], **more}
    return await server.http.post("/api/ai/viewer", json=body)


def said(response: Any) -> str:
    return str(response.json()["output"][-1]["content"][0]["text"])


async def test_bytes_and_ids_of_files_reach_the_agent_over_responses(serve: Serve) -> None:
    server = await serve(APP)
    file_id = await upload(server, PNG)
    text = {"type": "input_text", "text": "look"}
    both = await respond(
        server, text, {"type": "input_image", "image_url": IMAGE}, {"type": "input_file", "file_id": file_id}
    )
    assert said(both) == f"look: image image/png {len(PNG)}, a.png image/png {len(PNG)}"
    raw = {"type": "input_file", "filename": "b.bin", "file_data": b64encode(b"abc").decode()}
    assert said(await respond(server, raw)) == ": b.bin application/octet-stream 3"


async def test_file_parts_of_the_ai_sdk_reach_the_agent_and_stay_when_it_answers_again(serve: Serve) -> None:
    server = await serve(APP)
    file_id = await upload(server, PNG)
    text = {"type": "text", "text": "look"}
    sent = {"type": "file", "mediaType": "image/png", "filename": "c.png", "url": IMAGE}
    named = {"type": "file", "mediaType": "image/png", "url": f"/api/files/{file_id}"}
    expected = f"look: c.png image/png {len(PNG)}, a.png image/png {len(PNG)}"
    first = await chat(server, "c1", text, sent, named)
    again = await chat(server, "c1", text, sent, named, trigger="regenerate-message")
    assert expected in first.text
    assert expected in again.text
    runs = (await server.http.get("/api/runs")).json()["runs"]
    assert len(runs) == 2


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_image", "image_url": "https://example.com/a.png"},
        {"type": "input_image", "image_url": "data:image/png;base64,%%%"},
        {"type": "input_image", "image_url": "data:text/html,hello"},
        {"type": "input_image", "image_url": 7},
        {"type": "input_file", "file_data": "not base64!"},
        {"type": "input_file"},
        {"type": "file", "file": "a"},
        {"type": "input_audio", "input_audio": {}},
    ],
    ids=str,
)
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_file_that_cannot_be_read_is_refused(serve: Serve, part: dict[str, Any]) -> None:
    server = await serve(APP)
    assert (await respond(server, part)).status_code == 400
    address = part.get("image_url")
    if isinstance(address, str) and not address.startswith("data:text"):
        assert (await chat(server, "c1", {"type": "file", "url": address})).status_code == 400
    assert (await server.http.get("/api/runs")).json()["runs"] == []


async def test_a_file_of_another_kind_or_owner_is_refused(serve: Serve) -> None:
    server = await serve(APP, keys=True)
    ann, bob = [{"Authorization": f"Bearer {await server.key(name)}"} for name in ("ann", "bob")]
    made = await server.http.post("/api/files?name=a.png", content=PNG, headers={**ann, "Content-Type": "image/png"})
    part = {"type": "input_image", "file_id": made.json()["file_id"]}
    body = {"model": "viewer", "input": [{"role": "user", "content": [part]}]}
    assert (await server.http.post("/v1/responses", json=body, headers=ann)).status_code == 200
    assert (await server.http.post("/v1/responses", json=body, headers=bob)).status_code == 404
    fake = {"type": "input_image", "image_url": "data:image/png;base64," + b64encode(b"no png").decode()}
    body = {"model": "viewer", "input": [{"role": "user", "content": [fake]}]}
    assert (await server.http.post("/v1/responses", json=body, headers=ann)).status_code == 415
