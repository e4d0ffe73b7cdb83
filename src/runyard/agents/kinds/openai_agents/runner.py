"""Run an agent of OpenAI Agents SDK: the message of the run is its input, after the earlier runs of the thread.

The SDK runs its own loop, over copies that record (`recording.py`). A call that needs an approval interrupts the SDK's
run; the decision continues it. After a crash or an answer the loop starts from the beginning and gets recorded
responses and results, so no finished work is repeated.

The SDK is imported when the first such agent runs. It sends no traces unless the declaration says so.
"""

import asyncio
from dataclasses import replace
from typing import Any, Literal

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.wrapped import Wrapped
from runyard.agents.execution import Execution, ModelOutput
from runyard.agents.kinds.frameworks.entry import run_framework
from runyard.agents.kinds.frameworks.messages import failure_of_provider, said_before
from runyard.agents.kinds.frameworks.run import FrameworkRun, OutOfTokens
from runyard.agents.user_code.frames import calls_user_code
from runyard.errors import InvalidAnswer

Reached = Literal["max_steps", "max_tokens_exceeded"]


async def run_openai_agents(agent: Agent, execution: Execution, /) -> ModelOutput:
    return await run_framework(agent, execution, _run)


@calls_user_code
async def _run(agent: Agent, wrapped: Wrapped, execution: Execution, run: FrameworkRun) -> ModelOutput:
    from agents import MaxTurnsExceeded, ModelBehaviorError
    from openai import APIError

    try:
        result = await _start(agent, wrapped, execution, run)
    except (MaxTurnsExceeded, OutOfTokens) as error:
        reached: Reached = "max_tokens_exceeded" if isinstance(error, OutOfTokens) else "max_steps"
        if wrapped.agent.output_type is not None:
            raise InvalidAnswer("A limit was reached before the model gave an answer.", reached) from None
        return ModelOutput(run.text, stop_reason=reached)
    except ModelBehaviorError as error:
        raise InvalidAnswer(f"The model did not answer as its agent expects ({type(error).__name__}).") from error
    except APIError as error:
        raise failure_of_provider(getattr(error, "status_code", None)) from error
    return await run.output(result.final_output)


async def _start(agent: Agent, wrapped: Wrapped, execution: Execution, run: FrameworkRun) -> Any:
    from agents import RunConfig, RunContextWrapper, Runner
    from agents.models.interface import Model

    from runyard.agents.kinds.openai_agents.messages import input_of, results_in
    from runyard.agents.kinds.openai_agents.recording import (
        Copies,
        RecordedHandoffs,
        RecordedModel,
        RecordedProvider,
        decide,
    )

    context = await run.dependencies(wrapped)
    own = wrapped.options["run_config"] or RunConfig()
    config = replace(
        own,
        model_provider=RecordedProvider(own.model_provider, run),
        model=RecordedModel(own.model, run) if isinstance(own.model, Model) else own.model,
        tracing_disabled=not wrapped.options["tracing"],
    )
    copies = Copies(run, RunContextWrapper(context=context), wrapped.effects)
    start = await copies.of(wrapped.agent, {tool.name: tool for tool in agent.tools})
    given: Any = await input_of(execution, await said_before(execution, wrapped.history))
    while True:
        result = await Runner.run(
            start, given, context=context, max_turns=wrapped.limits, hooks=RecordedHandoffs(run), run_config=config
        )
        if not result.interruptions:
            run.end_invalid_calls(results_in(result.to_input_list()))
            return result
        given = result.to_state()
        await asyncio.gather(*[decide(run, given, item) for item in result.interruptions])
