"""Run a plan: its nodes one after another, each within its timeout.

After a crash a finished node is not called again; its result is in the log. A node that had started is called again
with the same key and without a second start in the log. If it is declared `once`, a person must allow the repetition.
There are no retries: a node that fails or times out ends the run. Only the runner writes the start and the end of a
node, and a failed node has no end.

A cancel is noticed before, after and inside every node. A run in a thread answers with the result of its last node.
Other runs have no output: their results are in their nodes.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.nodes import Node
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.replay import Replay
from runyard.agents.execution import Canceled, Execution, Parked
from runyard.agents.json_values import plain
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.agents.user_code.containment import with_deadline
from runyard.agents.user_code.frames import Interrupted, calls_user_code
from runyard.domain.events import ApprovalRequested, ModelReset, ModelToken, StepFinished, StepStarted
from runyard.domain.state.run_state import StepState
from runyard.domain.wait import Wait
from runyard.errors import NodeFailed, NodeTimedOut, Unavailable, UnknownOutcome, WriteRefused


async def run_plan(agent: Agent, execution: Execution, /) -> Output | None:
    known = {step.key: step for step in execution.state.steps}
    results: dict[str, Any] = {}
    for node in agent.plan:
        step = known.get(node.name)
        if step is not None and step.finished:
            results[node.name] = step.result
            continue
        _go_on(execution)
        await _begin(agent, node, step, execution)
        result = await _call(node, execution, results)
        results[node.name] = execution.emit(StepFinished(node.name, node.name, result=result)).result
        await execution.commit()
    return None if execution.run.thread_id is None else _answer(results[agent.plan[-1].name], execution)


def _answer(result: Any, execution: Execution) -> Output:
    """Return the last node's result as the answer: text unchanged, nothing for None, otherwise JSON."""
    if execution.state.open_text:
        execution.emit(ModelReset(after=execution.state.last_result_seq))
    text = result if isinstance(result, str) else "" if result is None else msgspec.json.encode(result).decode()
    if text:
        execution.emit(ModelToken(text))
    return Output(text)


async def _begin(agent: Agent, node: Node, started: StepState | None, execution: Execution) -> None:
    """Emit the start of the node. A `once` node that had started needs a person's approval first."""
    once = node.effects == "once"
    if started is not None and once:
        _repetition(agent, node, started, execution)
    if started is None or once:
        execution.emit(StepStarted(node.name, node.name))
    if once:
        await execution.commit_to_act()


def _repetition(agent: Agent, node: Node, started: StepState, execution: Execution) -> None:
    """Return if a person allowed the repetition. Otherwise park the run, or raise UnknownOutcome."""
    if agent.on_unknown == "fail":
        raise UnknownOutcome
    found = Replay(execution.state).wait(node.name, "unknown_outcome", started.started_seq or 0)
    if found is None:
        asked = {"node": node.name}
        approval = Wait(
            id=execution.new_wait_id("unknown_outcome"),
            run_id=execution.run.id,
            call_id=node.name,
            kind="unknown_outcome",
            name=node.name,
            input=asked,
            created_at=execution.now_ms(),
        )
        execution.wait(approval, ApprovalRequested(approval.id, node.name, "unknown_outcome", node.name, asked))
        raise Parked([approval.id])
    approval_id, question = found
    if question.answered_seq is None:
        raise Parked([approval_id])
    if question.state != "approved":
        raise UnknownOutcome


async def _call(node: Node, execution: Execution, results: Mapping[str, Any]) -> Any:
    """Call the node and return its result as JSON. When this returns or raises, no task of the node is running."""
    parking = Parking()
    context = NodeContext(node.name, execution, parking, results)
    with with_deadline(asyncio.get_running_loop().time() + node.timeout):
        task = asyncio.create_task(_to_its_end(node, context), name=f"node:{node.name}:{execution.run.id}")
    try:
        await asyncio.wait({task}, timeout=node.timeout)
        in_time = task.done() and not _is_interrupted(task)
    finally:
        await parking.close(task)
    if not in_time:
        raise NodeTimedOut(f"The node {node.name} took longer than {node.timeout:g} s.")
    return _result(node, task, execution)


@calls_user_code
async def _to_its_end(node: Node, context: NodeContext) -> Any:
    try:
        return await node.fn(context)
    except (SystemExit, KeyboardInterrupt) as error:
        # uncaught, it would end the event loop and with it every other run of this worker
        what = "called exit" if isinstance(error, SystemExit) else f"failed with {type(error).__name__}"
        raise NodeFailed(f"The node {node.name} {what}.") from None


def _is_interrupted(task: "asyncio.Task[Any]") -> bool:
    """Return whether the watchdog interrupted the node because it blocked the event loop too long."""
    return not task.cancelled() and isinstance(task.exception(), Interrupted)


def _result(node: Node, task: "asyncio.Task[Any]", execution: Execution) -> Any:
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    _go_on(execution)
    match error:
        case None:
            return _json(node, task.result())
        case asyncio.CancelledError():
            raise NodeFailed(f"The node {node.name} cancelled itself.")
        case NodeFailed() | WriteRefused() | Unavailable():
            raise error
        case _:
            raise NodeFailed(f"The node {node.name} failed with {type(error).__name__}.") from error


def _json(node: Node, result: object) -> Any:
    try:
        return plain(result)
    except (TypeError, ValueError):
        raise NodeFailed(
            f"The node {node.name} returned a value that is not JSON; return numbers, text, lists or dicts."
        ) from None


def _go_on(execution: Execution) -> None:
    if execution.cancelled:
        raise Canceled
