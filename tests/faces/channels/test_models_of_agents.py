"""Agents made over the API may use only allowed models, and a budget within a limit."""

from typing import Any

import pytest

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from runyard.domain.content.profile import Profile
from runyard.errors import StartupError
from runyard.settings import Settings
from tests.faces.channels.agents_on_demand import ChannelServer, done
from tests.faces.channels.conftest import AT_ONCE
from tests.support.in_process.live_server import Serve, Server

ADDRESS = "oobabooga/http://127.0.0.1:9"
DECLARED = {
    "thinks": Agent("thinks", model="openai/gpt-5-mini", max_usd=5),
    "own": Agent("own", model=ADDRESS),  # code may; what code uses is no leave for the API
    "plays": Agent("plays", model="scripted", turns=[{"text": "hello"}]),
}


async def make(server: Server, status: int, **more: Any) -> dict[str, Any]:
    body = {"id": "clerk", "modelId": "openai/gpt-5-mini", **more}
    answer = await server.http.post("/api/agents", json=body)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize("model", [ADDRESS, "openai/gpt-5", "scripted", "huggingface/https://example.com/x"])
async def test_without_a_setting_the_models_of_declared_agents_are_allowed_and_no_other(
    serve: Serve, model: str
) -> None:
    server = await serve(App(DECLARED, {}, "thinks"), agent_models=None)
    await make(server, 422, modelId=model)
    assert (await server.http.get("/api/agents/clerk")).status_code == 404
    await make(server, 201)
    answer = await server.http.patch("/api/agents/clerk", json={"modelId": model})
    assert answer.status_code == 422
    assert "127.0.0.1" not in answer.text
    assert (await server.http.get("/api/agents/clerk")).json()["modelId"] == "openai/gpt-5-mini"


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_the_setting_names_the_models_and_an_address_is_never_one(serve: Serve) -> None:
    server = await serve(App(DECLARED, {}, "thinks"), agent_models=" a/b , c/d,")
    refused = await make(server, 422)
    assert "Allowed: a/b, c/d." in refused["detail"]
    await make(server, 201, modelId="c/d")
    with pytest.raises(StartupError, match="agent_models"):
        Settings(agent_models=ADDRESS)


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_budget_above_the_limit_is_refused(serve: Serve) -> None:
    server = await serve(App(DECLARED, {}, "thinks"), agent_max_usd=0.5)
    refused = await make(server, 422, maxBudgetUsd=0.6)
    assert "0.5 USD" in refused["detail"]
    await make(server, 201, maxBudgetUsd=0.5)
    answer = await server.http.patch("/api/agents/clerk", json={"maxBudgetUsd": 1000})
    assert answer.status_code == 422
    assert (await server.http.get("/api/agents/clerk")).json()["maxBudgetUsd"] == 0.5
    assert (await server.http.patch("/api/agents/clerk", json={"title": "clerk"})).status_code == 200


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_an_agent_that_was_made_before_is_held_to_the_limits_when_it_runs(serve: Serve) -> None:
    served = ChannelServer()
    served.server = await serve(served.app(), **AT_ONCE, agent_models="a/b", agent_max_usd=0.5)
    old: dict[str, Any] = {"owner": "local", "display_name": "old", "max_usd": 1000, "created_at": 0, "updated_at": 0}
    for name, model in (("clerk", ADDRESS), ("other", "a/b")):
        await served.server.store.create_agent(Profile(id=name, model=model, **old))
    other = await served.server.process.agent_directory.agent("other")
    assert other is not None
    assert other.model_settings is not None
    assert other.model_settings.max_usd == 0.5
    assert (await served.http.patch("/api/agents/clerk", json={"title": "clerk"})).status_code == 200
    watch = await served.watch(0)
    await served.say(await served.channel("clerk"), "hello")
    await done(watch, 1)
    [run] = (await served.http.get("/api/agents/clerk/runs")).json()["runs"]
    assert run["status"] == "failed"
    assert "contains an address" in str((await served.server.log(run["id"]))[-2])
