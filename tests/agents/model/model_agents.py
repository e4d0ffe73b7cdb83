"""Tools, agents on a scripted model, and a model that records its requests, for tests of model agents."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.model_settings import ModelSettings
from runyard.agents.execution import ModelOutput
from runyard.agents.kinds.model.runner import ModelRunner
from runyard.agents.tools.tool import Tool, tool
from runyard.models.model import Request
from runyard.models.scripted import ScriptedModel
from tests.agents.fake_execution import FakeExecution

DONE = {"text": ["All ", "done."]}


@tool(effects="none")
async def look(where: str) -> dict[str, str]:
    """Look somewhere."""
    return {"seen": where}


@tool(approval="always")
async def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def turn_with_calls(*calls: tuple[str, Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    return {"calls": [{"tool": name, "input": given} for name, given in calls], **more}


def model_agent(*turns: Mapping[str, Any], tools: Sequence[Tool[..., Any]] = (look, pay), **options: Any) -> Agent:
    return Agent("a", model="scripted", turns=turns, tools=tools, **options)


class RecordingModel(ScriptedModel):
    """A scripted model that records its requests."""

    def __init__(self, model_settings: ModelSettings) -> None:
        super().__init__(model_settings.turns)
        self.requests: list[Request] = []

    def stream(self, request: Request, /) -> Any:
        self.requests.append(msgspec.structs.replace(request, messages=list(request.messages)))
        return super().stream(request)


async def run_with_requests(agent: Agent, execution: FakeExecution) -> tuple[ModelOutput, list[Request]]:
    """Run to the end. Return the output and the requests to the model."""
    assert agent.model_settings is not None
    model = RecordingModel(agent.model_settings)
    output = await ModelRunner(lambda _: model)(agent, execution)
    await execution.commit()
    assert isinstance(output, ModelOutput)
    return output, model.requests


async def run_to_output(agent: Agent, execution: FakeExecution) -> ModelOutput:
    return (await run_with_requests(agent, execution))[0]


def results(request: Request) -> list[str]:
    return [message["content"] for message in request.messages if message["role"] == "tool"]


def payloads(execution: FakeExecution, kind: type[Any]) -> list[Any]:
    return [event.payload for event in execution.events if isinstance(event.payload, kind)]
