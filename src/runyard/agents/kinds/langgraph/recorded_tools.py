"""Runyard's tools for nodes of a graph, as tools of LangChain.

A call is recorded under the node's task and the id that the model gave the call, or the number of the call in the task.
The task is the same when the node runs again, so a recorded call is not made again. With another input, a `once` call
ends the run and another call is made under the same key.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextvars import ContextVar
from hashlib import sha256
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException

from runyard.agents.context.context import Context
from runyard.agents.durable.replay import Replay
from runyard.agents.durable.tool_call import PREFIX, ToolCalls, current_recorded_call, error_text_for_model
from runyard.agents.durable.waits import UNKNOWN
from runyard.agents.execution import Execution
from runyard.agents.json_values import plain, same
from runyard.agents.kinds.langgraph.node_steps import current_namespace
from runyard.agents.tools.tool import Tool
from runyard.domain.events import ToolFinished, ToolStarted
from runyard.domain.state.run_state import CallState
from runyard.errors import (
    AgentError,
    InvalidInput,
    NestedCall,
    Nondeterministic,
    Rejected,
    RunyardError,
    ToolFailed,
    UnknownOutcome,
)

current_graph_calls: ContextVar["GraphCalls | None"] = ContextVar("runyard_graph_calls", default=None)
_model_call_id: ContextVar[str | None] = ContextVar("runyard_model_call_id", default=None)


class GraphCalls:
    """The tool calls of one execution."""

    def __init__(
        self,
        execution: Execution,
        replay: Replay,
        calls: ToolCalls,
        context: Context,
        copied: Mapping[str, CallState] = {},
    ) -> None:
        """`copied`: calls that were started before the run was forked from another."""
        self._execution = execution
        self._replay = replay
        self._calls = calls
        self._context = context
        self._known = {call.call_id: call for call in execution.state.calls}
        self._copied = {key: call for key, call in copied.items() if key not in self._known}
        self._used: Counter[tuple[str, str]] = Counter()
        self.loop = asyncio.get_running_loop()

    def begin(self, namespace: str) -> None:
        """Note that the code of a node starts, also when LangGraph tries it again: its calls are counted again."""
        for place in [place for place in self._used if place[0] == namespace]:
            del self._used[place]

    async def make(self, tool: Tool[..., Any], given: Mapping[str, Any], namespace: str, call_id: str | None) -> Any:
        """Make a call, or return what the log has of it. Raises Rejected, ToolFailed or UnknownOutcome."""
        if current_recorded_call.get() is not None:
            raise NestedCall
        wanted = self._execution.redactor.value(tool.in_order(plain(given)))
        key = self._key(tool, namespace, call_id)
        known = self._known.get(key) or self._copied.get(key)
        if known is not None and not same(known.asked, wanted):
            if tool.effects == "once":
                raise Nondeterministic
            known = None
        if known is not None and key in self._copied:
            self._record_copied(self._copied.pop(key))
        if known is not None and known.status == "finished":
            self._replay.use(key)
            return _result(tool, known.error, known.output)
        token = current_namespace.set(namespace)
        try:
            self._check(tool, key, wanted)
            made = await self._calls.make(tool, key, wanted, known, self._context)
        finally:
            current_namespace.reset(token)
        self._known[key] = CallState(
            call_id=key, tool=tool.name, asked=wanted, status="finished", output=made.output, error=made.error
        )
        return _result(tool, made.error, made.output, made.cause)

    def _record_copied(self, call: CallState) -> None:
        """Write a call of the copy to the log of this run, when the graph reaches it."""
        self._execution.emit(ToolStarted(call.call_id, call.tool, call.input))
        if call.status == "finished":
            self._execution.emit(ToolFinished(call.call_id, call.tool, call.output, call.error, call.ms or 0))

    def _key(self, tool: Tool[..., Any], namespace: str, call_id: str | None) -> str:
        if call_id is None:
            self._used[namespace, tool.name] += 1
            call_id = str(self._used[namespace, tool.name])
        return f"{tool.name}#{sha256(f'{namespace} {call_id}'.encode()).hexdigest()[:12]}"

    def _check(self, tool: Tool[..., Any], key: str, given: Mapping[str, Any]) -> None:
        try:
            tool.check(given)
        except InvalidInput as error:
            said = error_text_for_model(error, self._execution)
            self._execution.emit(ToolStarted(key, tool.name, given))
            self._execution.emit(ToolFinished(key, tool.name, said, error.code))
            raise


class RunyardTool(BaseTool):
    """A tool of Runyard for LangChain. It works in the nodes of a graph that Runyard runs."""

    runyard_tool: Any

    async def arun(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **options: Any) -> Any:
        token = _model_call_id.set(tool_call_id)
        try:
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **options)
        finally:
            _model_call_id.reset(token)

    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **options: Any) -> Any:
        token = _model_call_id.set(tool_call_id)
        try:
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **options)
        finally:
            _model_call_id.reset(token)

    async def _arun(self, config: RunnableConfig, **given: Any) -> Any:
        return await self._call(_calls(), given, config, _model_call_id.get())

    def _run(self, config: RunnableConfig, **given: Any) -> Any:
        calls = _calls()
        making = self._call(calls, given, config, _model_call_id.get())
        return asyncio.run_coroutine_threadsafe(making, calls.loop).result()

    async def _call(self, calls: GraphCalls, given: dict[str, Any], config: RunnableConfig, call_id: str | None) -> Any:
        namespace = str(config.get("configurable", {}).get("checkpoint_ns") or "")
        try:
            return await calls.make(self.runyard_tool, given, namespace, call_id)
        except (InvalidInput, Rejected, ToolFailed, UnknownOutcome) as error:
            if call_id is None:
                raise
            raise ToolException(_text_for_model(error)) from error  # the model gets this text


def _calls() -> GraphCalls:
    calls = current_graph_calls.get()
    if calls is None:
        raise AgentError("This tool works in a graph that Runyard runs: runyard.langgraph(name, graph).")
    return calls


def _result(tool: Tool[..., Any], error: str | None, output: Any, cause: BaseException | None = None) -> Any:
    if error == UNKNOWN:
        raise UnknownOutcome from cause
    if error is not None:
        raise ToolFailed(f"The tool {tool.name} failed with {error}.", error=error, output=output) from cause
    return output


def _text_for_model(error: RunyardError) -> str:
    """Return the text that a model gets for a call without a result."""
    if isinstance(error, Rejected):
        return "A person rejected this call; it was not made." + (f" Reason: {error.reason}" if error.reason else "")
    if isinstance(error, ToolFailed) and isinstance(error.output, str):
        return error.output
    return f"{PREFIX}{error.message}"
