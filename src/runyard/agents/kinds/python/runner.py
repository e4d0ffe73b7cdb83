"""Run a python agent: call its function with a context and turn the return value into an output.

The function runs in its own task, so that it can be stopped while it only waits for a person
(`agents/durable/parking.py`). When the runner returns or raises, no task of the agent is running. Text that an earlier
attempt left unfinished is withdrawn with `model.reset`, because the function writes it again.

Not its job: the time limit and `on_code_change`. The engine enforces them for every kind.
"""

from typing import Any

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.durable.outcome import outcome
from runyard.agents.durable.parking import Parking
from runyard.agents.execution import Execution, Parked
from runyard.agents.json_values import plain
from runyard.agents.user_code.containment import failure_of
from runyard.agents.user_code.frames import calls_user_code
from runyard.domain.content.parts import File
from runyard.domain.events import ModelReset, clean
from runyard.errors import AgentError


async def run_python(agent: Agent, execution: Execution, /) -> Output:
    if execution.state.open_text:
        execution.emit(ModelReset(after=execution.state.last_result_seq))
    parking = Parking()
    context = Context(agent, execution, parking)
    main = await parking.run_until_parked(_call(agent, context), f"agent:{execution.run.id}")
    if main is None:
        raise Parked(parking.waits)
    context.flush_text()
    return _output(outcome(main, execution), context)


@calls_user_code
async def _call(agent: Agent, context: Context) -> Any:
    assert agent.fn is not None  # the declaration was checked
    try:
        return await agent.fn(context)
    except (SystemExit, KeyboardInterrupt) as error:
        # uncaught, it would end the event loop and with it every other run of this worker
        raise failure_of(error) from None


def _output(result: object, context: Context) -> Output:
    attached = context.attached or None
    match result:
        case None:
            return Output(context.written(), files=attached)
        case str():
            return Output(clean(result), files=attached)
        case Output(text, sources, outputs, files):
            shown = attached if files is None else _files(files)
            return Output(_text(text or context.written()), _sources(sources), _json_outputs(outputs), shown)
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


def _files(files: object) -> list[File]:
    if not isinstance(files, list | tuple) or not all(isinstance(file, File) for file in files):
        raise AgentError("The files of an Output are a list of files, as `ctx.attach` returns them.")
    return list(files)


def _json_outputs(outputs: object) -> dict[str, Any]:
    try:
        value = plain(outputs)
    except (TypeError, ValueError):
        raise AgentError("The outputs of an Output must be JSON.") from None
    if not isinstance(value, dict):
        raise AgentError("The outputs of an Output are a dict.")
    return value
