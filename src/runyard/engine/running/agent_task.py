"""The task in which an agent works on a run: its runner within a time limit, and what came of it."""

import asyncio

from runyard.agents.declared.agent import Agent, Output, equipped
from runyard.agents.kinds.runners import RUNNERS
from runyard.agents.tools.waiting_tools import ClientTool
from runyard.domain.runs.run import Run
from runyard.domain.state.run_state import State
from runyard.engine.running.run_handle import RunHandle
from runyard.engine.running.run_services import RunServices
from runyard.errors import AgentError


async def run_agent(agent: Agent, handle: RunHandle, services: RunServices) -> Output | None:
    """Run the agent's runner within its time limit. Raises TookTooLong."""

    async def run_kind(agent: Agent) -> Output | None:
        handle.record_prompt(agent)
        supplied = [ClientTool(tool.name, tool.description, tool.schema) for tool in handle.state.client_tools]
        return await RUNNERS[agent.kind](await equipped(agent, supplied), handle)

    async def run_here() -> Output | None:
        if services.orchestrate is not None and handle.run.in_mailbox:
            return await services.orchestrate(agent, handle.run, run_kind)
        return await run_kind(agent)

    seconds = _shorter(agent.max_seconds, handle.seconds_left)
    if seconds is None:
        return await run_here()
    try:
        async with asyncio.timeout(seconds) as limit:
            return await run_here()
    except TimeoutError:
        if limit.expired():
            raise TookTooLong(TookTooLong.late if handle.seconds_left == 0 else None) from None
        raise


def _shorter(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


class TookTooLong(AgentError):
    """The agent took longer than it may."""

    code = "timeout"
    late = "The run took longer than its budget allows."


def may_continue(agent: Agent, run: Run, state: State) -> bool:
    """Whether the agent may continue a run that has steps or calls on record: not if its code has changed since and
    its `on_code_change` is "error"."""
    changed = run.agent_version is not None and run.agent_version != agent.version
    return not (changed and bool(state.steps or state.calls) and agent.on_code_change == "error")


def error_of(task: "asyncio.Task[Output | None]") -> BaseException | None:
    """Return what the runner raised. A runner that ignores its cancellation counts as cancelled: it cannot write."""
    if not task.done() or task.cancelled():
        return asyncio.CancelledError()
    return task.exception()
