"""Run a model agent: the loop over the model that the agent names.

The loop runs in its own task, so that it can be stopped while it only waits for people
(`agents/durable/parking.py`). When the runner returns or raises, no tool call and no request to a provider is running.
"""

from collections.abc import Callable

from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.model_settings import ModelSettings
from runyard.agents.durable.outcome import run_to_end
from runyard.agents.durable.parking import Parking
from runyard.agents.execution import Execution
from runyard.agents.kinds.model.loop import Loop
from runyard.domain.task import Budget
from runyard.models.litellm import LitellmModel
from runyard.models.model import Model
from runyard.models.scripted import ScriptedModel


def model_of(model_settings: ModelSettings) -> Model:
    return ScriptedModel(model_settings.turns) if model_settings.is_scripted else LitellmModel()


class ModelRunner:
    def __init__(self, model_of: Callable[[ModelSettings], Model] = model_of) -> None:
        self._model_of = model_of

    async def __call__(self, agent: Agent, execution: Execution, /) -> Output:
        assert agent.model_settings is not None  # the declaration was checked
        parking = Parking()
        task, options = execution.state.task, execution.state.options
        model_settings = agent.model_settings if task is None else agent.model_settings.within(task.budget)
        if options is not None and options.max_output_tokens is not None:
            model_settings = model_settings.within(Budget(max_output_tokens=options.max_output_tokens))
        loop = Loop(agent, model_settings, self._model_of(model_settings), execution, parking)
        return await run_to_end(loop.run(), parking, execution)
