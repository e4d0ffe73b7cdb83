"""Every refusal on a contract route, also before the body is read, has the contract's envelope."""

from typing import Any

import httpx2
import pytest

import runyard
from runyard.agents.declared.loading import App
from runyard.contract.wire import AgentRunResponse
from tests.support.in_process.live_server import Serve
from tests.web.access.every_route import bearer
from tests.web.responses.test_problems import MEMORY

ROUTES = ["/agents/run/sync", "/agents/run/stream"]
ASKED = {"request_id": "r1", "task_type": "happy"}


def refused(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json"), answer.text
    body = dict(answer.json())
    envelope = AgentRunResponse.model_validate(body)
    assert envelope.error is not None
    assert (envelope.status, envelope.ok, envelope.error.code) == ("error", False, code)
    assert body["detail"] == {name: value for name, value in body.items() if name != "detail"}
    return body


@MEMORY
@pytest.mark.req("S2.33")
@pytest.mark.parametrize("route", ROUTES)
async def test_401_403_413_and_429_have_the_envelope(serve: Serve, route: str) -> None:
    server = await serve(keys=True, max_body_bytes=1000, rate_per_key=0.001, max_streams=1)
    without_key = await server.http.post(route, json=ASKED)
    refused(without_key, 401, "KEY_REQUIRED")
    assert without_key.headers["www-authenticate"] == "Bearer"
    reader, writer = await server.key("ann", "read"), await server.key("ann")
    refused(await server.http.post(route, json=ASKED, headers=bearer(reader)), 403, "SCOPE_MISSING")
    large = {**ASKED, "inputs": {"text": "x" * 1000}}
    refused(await server.http.post(route, json=large, headers=bearer(writer)), 413, "TOO_LARGE")
    often = await server.http.post(route, json=ASKED, headers=bearer(writer))
    refused(often, 429, "TOO_MANY_REQUESTS")
    assert int(often.headers["retry-after"]) >= 1


@MEMORY
@pytest.mark.req("S2.33")
async def test_too_many_streams_have_the_envelope(serve: Serve) -> None:
    server = await serve(max_streams=1)
    endless = await server.stream("/api/sse")
    refused(await server.http.post("/agents/run/stream", json=ASKED), 429, "TOO_MANY_STREAMS")
    await endless.close()


@MEMORY
@pytest.mark.req("S2.33")
async def test_a_remote_agent_is_served_as_the_task_type_of_its_service(serve: Serve) -> None:
    service = await serve()
    url = f"http://127.0.0.1:{service.port}"
    first = runyard.remote("lit", url=url, task_type="LIT", allow=["127.0.0.1"])
    named = runyard.remote("names", url=url, task_type="happy", allow=["127.0.0.1"])
    second = runyard.remote("lit2", url=url, task_type="LIT", allow=["127.0.0.1"])
    happy = service.process.engine.agent_directory._declared["happy"]
    app = App({one.name: one for one in (first, second, named, happy)}, {}, "lit")
    assert app.task_types == {"LIT": "lit", "lit": "lit", "lit2": "lit2", "names": "names", "happy": "happy"}
    asking = runyard.remote("asker", url=url, task_type="happy", allow=["127.0.0.1"])
    front = await serve(App({"asker": asking}, {}, "asker"))
    answer = await front.http.post("/agents/run/sync", json=ASKED)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok"), answer.text
