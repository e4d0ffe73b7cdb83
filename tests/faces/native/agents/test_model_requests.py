"""The request of a model step is rebuilt from the log: exactly the conversation that the model got."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.test import TestModel

import runyard
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from tests.support.in_process.live_server import Serve, Server


@runyard.tool(effects="none")
async def weigh(what: str) -> str:
    """Weigh something."""
    return f"{what}: 3 kg"


class Shelf(msgspec.Struct):
    kg: int


async def requests_of(server: Server, run_id: str) -> list[dict[str, Any]]:
    """The requests of all steps of a run that asked a model."""
    found = []
    for event in await server.log(run_id):
        if event["type"] == "step.started" and event["data"].get("model"):
            answer = await server.http.get(f"/api/runs/{run_id}/request", params={"at": event["seq"]})
            assert answer.status_code == 200, answer.text
            found.append(answer.json())
    return found


async def test_a_step_shows_the_prompt_the_conversation_and_the_tools_that_its_model_got(serve: Serve) -> None:
    got: list[list[dict[str, Any]]] = []

    def think(conversation: Any) -> dict[str, Any]:
        got.append([dict(message) for message in conversation])
        if conversation[-1]["role"] == "tool" or conversation[-1]["content"] == "again":
            return {"text": "Three.", "usage": {"input_tokens": 9, "output_tokens": 2, "usd": 0.5}}
        return {"calls": [{"tool": "weigh", "input": {"what": "bag"}}]}

    scale = Agent("scale", model="scripted", turns=think, tools=[weigh], instructions="You weigh.")
    server = await serve(App({"scale": scale}, {}, "scale"))
    thread = await server.thread(agent="scale")
    first = await server.post("scale", "the bag", thread)
    await server.ended(first)
    second = await server.post("scale", "again", thread)
    await server.ended(second)
    rebuilt = [request for run_id in (first, second) for request in await requests_of(server, run_id)]
    assert [request["messages"] for request in rebuilt] == got
    assert len(got) == 3
    assert got[2][0] == {"role": "system", "content": "You weigh."}
    assert [tool["function"]["name"] for tool in rebuilt[0]["tools"]] == ["weigh"]
    assert (rebuilt[0]["step"], rebuilt[0]["notes"]) == ("turn#1", [])
    assert (await server.http.get(f"/api/runs/{first}/request", params={"at": 1})).status_code == 422


@pytest.mark.parametrize("options", [{"history": 2}, {"max_context_tokens": 500, "max_turns": 40}], ids=str)
async def test_a_step_that_summarizes_shows_what_it_was_made_of(serve: Serve, options: dict[str, Any]) -> None:
    got: list[list[dict[str, Any]]] = []

    def think(conversation: Any) -> Mapping[str, Any]:
        got.append([dict(message) for message in conversation])
        if "memory of a conversation" in conversation[0]["content"]:
            return {"text": f"Summary {len(got)}."}
        if conversation[-1]["role"] != "tool" or len(conversation) % 7:
            return {"text": "Weighed. " * 5, "calls": [{"tool": "weigh", "input": {"what": f"bag {len(got)}"}}]}
        return {"text": "Three."}

    scale = Agent("scale", model="scripted", turns=think, tools=[weigh], instructions="You weigh.", **options)
    server = await serve(App({"scale": scale}, {}, "scale"))
    thread = await server.thread(agent="scale")
    rebuilt = []
    for n in range(5):
        run_id = await server.post("scale", f"bag {n}", thread)
        await server.ended(run_id)
        rebuilt += await requests_of(server, run_id)
    summaries = [request for request in rebuilt if request["step"].startswith("summary#")]
    assert [request["messages"] for request in rebuilt] == got
    assert summaries
    assert all(request["tools"] == request["notes"] == [] for request in summaries)


async def test_a_step_shows_the_format_of_its_answer(serve: Serve) -> None:
    clerk = Agent("clerk", model="scripted", turns=[{"text": '{"kg": 3}'}], answer=Shelf)
    server = await serve(App({"clerk": clerk}, {}, "clerk"))
    run_id = await server.post("clerk", "the bag", await server.thread(agent="clerk"))
    await server.ended(run_id)
    [request] = await requests_of(server, run_id)
    assert request["answer"]["properties"] == {"kg": {"type": "integer"}}


async def test_a_request_that_a_framework_made_is_said_to_be_unrecorded(serve: Serve) -> None:
    geographer = runyard.pydantic_ai(PydanticAgent(TestModel(custom_output_text="Paris."), name="geographer"))
    server = await serve(App({"geographer": geographer}, {}, "geographer"))
    run_id = await server.post("geographer", "The capital?", await server.thread(agent="geographer"))
    await server.ended(run_id)
    [step] = [event["seq"] for event in await server.log(run_id) if event["type"] == "step.started"]
    answer = await server.http.get(f"/api/runs/{run_id}/request", params={"at": step})
    assert answer.status_code == 422
    assert answer.json()["detail"] == (
        "pydantic-ai makes the requests of agent geographer. Runyard records their answers and not the requests."
    )
