"""Run an agent of pydantic-ai: the message of the run is its prompt, earlier runs are its history.

pydantic-ai runs its own loop, with one more capability (`recording.py`). After a crash or an answer the loop starts
from the beginning and gets recorded responses and results, so no finished work is repeated.

pydantic-ai is imported when the first such agent runs.
"""

from typing import Any, Literal

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.wrapped import Wrapped
from runyard.agents.execution import Execution, ModelOutput
from runyard.agents.kinds.frameworks.entry import run_framework
from runyard.agents.kinds.frameworks.messages import failure_of_provider, said_before
from runyard.agents.kinds.frameworks.run import FrameworkRun, OutOfTokens
from runyard.agents.tools.tool import Tool
from runyard.agents.user_code.frames import calls_user_code
from runyard.errors import InvalidAnswer


async def run_pydantic_ai(agent: Agent, execution: Execution, /) -> ModelOutput:
    return await run_framework(agent, execution, _run)


@calls_user_code
async def _run(agent: Agent, wrapped: Wrapped, execution: Execution, run: FrameworkRun) -> ModelOutput:
    from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UsageLimitExceeded

    try:
        result = await _start(agent, wrapped, execution, run)
    except OutOfTokens:
        return _at_limit(wrapped, run, "max_tokens_exceeded")
    except UsageLimitExceeded as error:
        return _at_limit(wrapped, run, "max_tokens_exceeded" if "tokens" in str(error) else "max_steps")
    except UnexpectedModelBehavior as error:
        raise InvalidAnswer(f"The model did not answer as its agent expects ({type(error).__name__}).") from error
    except ModelAPIError as error:
        raise failure_of_provider(getattr(error, "status_code", None)) from error
    return await run.output(result.output)


async def _start(agent: Agent, wrapped: Wrapped, execution: Execution, run: FrameworkRun) -> Any:
    from pydantic_ai.capabilities import ReinjectSystemPrompt

    from runyard.agents.kinds.pydantic_ai.backend import LogBackend
    from runyard.agents.kinds.pydantic_ai.messages import history_from, prompt_of, results_in
    from runyard.agents.kinds.pydantic_ai.recording import Recording

    history = history_from(await said_before(execution, wrapped.history))
    tools = {tool.name: tool for tool in agent.tools}
    recording = Recording(agent.name, run, LogBackend(run, tools, wrapped.effects))
    result = await wrapped.agent.run(
        await prompt_of(execution),
        message_history=history or None,
        deps=await run.dependencies(wrapped),
        usage_limits=wrapped.limits,
        toolsets=[_toolset(tools)] if tools else None,
        # without the first, pydantic-ai leaves out its system prompt if there is a history
        capabilities=[*([ReinjectSystemPrompt()] if history else []), recording],
        infer_name=False,
    )
    run.end_invalid_calls(results_in(result.new_messages()))
    return result


def _toolset(tools: dict[str, Tool[..., Any]]) -> Any:
    """Return tools of Runyard for the model. The recorded toolset makes their calls."""
    from pydantic_ai import Tool as FrameworksTool
    from pydantic_ai.toolsets import FunctionToolset

    async def never_called(**given: Any) -> None: ...

    described = [(tool.name, tool.description, tool.schema) for tool in tools.values()]
    return FunctionToolset([FrameworksTool.from_schema(never_called, *each) for each in described], id="runyard")


def _at_limit(wrapped: Wrapped, run: FrameworkRun, reached: Literal["max_steps", "max_tokens_exceeded"]) -> ModelOutput:
    """Return the text so far. An agent with another type of output has no answer then."""
    if wrapped.agent.output_type is not str:
        raise InvalidAnswer("A limit was reached before the model gave an answer.", reached)
    return ModelOutput(run.text, stop_reason=reached)
