"""Start the loop of another framework in the task of a run. Its exceptions do not reach the worker."""

from collections.abc import Awaitable, Callable

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.wrapped import Wrapped
from runyard.agents.durable.outcome import run_to_end
from runyard.agents.durable.parking import Parking
from runyard.agents.execution import Execution, ModelOutput
from runyard.agents.kinds.frameworks.run import FrameworkRun
from runyard.agents.user_code.containment import failure_of

Loop = Callable[[Agent, Wrapped, Execution, FrameworkRun], Awaitable[ModelOutput]]


async def run_framework(agent: Agent, execution: Execution, loop: Loop) -> ModelOutput:
    """Run an agent of another framework to its end, or until it only waits."""
    assert agent.wrapped is not None  # the declaration was checked
    parking = Parking()
    run = FrameworkRun(agent, execution, parking)

    async def contained(wrapped: Wrapped) -> ModelOutput:
        try:
            return await loop(agent, wrapped, execution, run)
        except (SystemExit, KeyboardInterrupt) as error:
            # uncaught, it would end the event loop and with it every other run of this worker
            raise failure_of(error) from None

    return await run_to_end(contained(agent.wrapped), parking, execution)
