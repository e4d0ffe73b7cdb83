"""Runs a python agent: calls its function with a context, and says how that ended.

The function runs in a task of its own, so that it can be stopped when all it does is wait for a person (`parking.py`).
Whatever happens, nothing of it goes on when the runner returns or raises. The text that an earlier attempt left open is
taken back with `model.reset`, because the function will write it again.

Not its job: the time limit and `on_code_change`; the engine enforces those for every kind.
"""

import asyncio
from typing import Any, NoReturn

from runyard.agents.agent import Agent, Output
from runyard.agents.context import Context
from runyard.agents.execution import Canceled, Execution, Parked
from runyard.agents.parking import Parking
from runyard.agents.values import plain
from runyard.domain.events import ModelReset, clean
from runyard.errors import AgentError, RunyardError, Unavailable, WriteRefused


async def run_python(agent: Agent, execution: Execution, /) -> Output:
    if execution.state.open_text:
        execution.emit(ModelReset())
    parking = Parking()
    context = Context(agent, execution, parking)
    main = asyncio.create_task(_call(agent, context), name=f"agent:{execution.run.id}")
    quiet = asyncio.create_task(parking.quiet(), name=f"parking:{execution.run.id}")
    try:
        await asyncio.wait({main, quiet}, return_when=asyncio.FIRST_COMPLETED)
        ended = main.done()
    finally:
        await parking.close(main, quiet)
    if ended:
        return _outcome(main, context, execution)
    raise Parked(parking.approvals)


async def _call(agent: Agent, context: Context) -> Any:
    assert agent.fn is not None  # the declaration was checked
    try:
        return await agent.fn(context)
    except SystemExit:
        # left alone it would end the event loop, and with it every other run of this worker
        raise AgentError("The agent called exit.") from None


def _outcome(main: asyncio.Task[Any], context: Context, execution: Execution) -> Output:
    if main.cancelled():
        if execution.cancelled:
            raise Canceled
        raise AgentError("The agent cancelled itself.")
    error = main.exception()
    if error is None:
        return _output(main.result(), context)
    if execution.cancelled:
        raise Canceled from error
    return _end_as(error)


def _end_as(error: BaseException) -> NoReturn:
    """Raise an error whose message holds no content; what the engine itself raised stays as it is."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, AgentError | WriteRefused | Unavailable):
        raise error
    said = error.message if isinstance(error, RunyardError) else f"The agent failed with {type(error).__name__}."
    raise AgentError(said) from error


def _output(result: object, context: Context) -> Output:
    match result:
        case None:
            return Output(context.written())
        case str():
            return Output(clean(result))
        case Output(text, sources, outputs):
            return Output(_text(text or context.written()), _sources(sources), _json_outputs(outputs))
        case _:
            raise AgentError(f"An agent returns an Output, a str or None, not {type(result).__name__}.")


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise AgentError(f"The text of an Output is a str, not {type(text).__name__}.")
    return clean(text)


def _sources(sources: object) -> list[str]:
    if not isinstance(sources, list | tuple) or not all(isinstance(source, str) for source in sources):
        raise AgentError("The sources of an Output are a list of ids.")
    return [clean(source) for source in sources]


def _json_outputs(outputs: object) -> dict[str, Any]:
    try:
        value = plain(outputs)
    except (TypeError, ValueError):
        raise AgentError("The outputs of an Output must be JSON.") from None
    if not isinstance(value, dict):
        raise AgentError("The outputs of an Output are a dict.")
    return value
