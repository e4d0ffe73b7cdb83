"""The request of a model step is rebuilt from the log: exactly the conversation that the model got."""

from typing import Any

import runyard
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from tests.support.in_process.live_server import Serve


@runyard.tool(effects="none")
async def weigh(what: str) -> str:
    """Weigh something."""
    return f"{what}: 3 kg"


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
    rebuilt = []
    for run_id in (first, second):
        steps = [event for event in await server.log(run_id) if event["type"] == "step.started"]
        for step in steps:
            answer = await server.http.get(f"/api/runs/{run_id}/request", params={"at": step["seq"]})
            assert answer.status_code == 200, answer.text
            rebuilt.append(answer.json())
    assert [request["messages"] for request in rebuilt] == got
    assert len(got) == 3
    assert got[2][0] == {"role": "system", "content": "You weigh."}
    assert [tool["function"]["name"] for tool in rebuilt[0]["tools"]] == ["weigh"]
    assert (rebuilt[0]["step"], rebuilt[0]["notes"]) == ("turn#1", [])
    assert (await server.http.get(f"/api/runs/{first}/request", params={"at": 1})).status_code == 422
