"""Copies of agents of OpenAI Agents SDK that record what they do. Imported only when such an agent runs.

A run gets a copy of its agent and of every agent that it hands over to. In a copy, models and function tools go through
the log, also the tools of MCP servers. Nothing of the user's own objects is changed. A tool that runs another agent
(`agent.as_tool()`) is one recorded call: the requests inside it are not recorded one by one.
"""

from collections.abc import AsyncIterator, Mapping
from copy import copy
from functools import partial
from typing import Any

import msgspec
from agents import Agent, FunctionTool, Handoff, Model, ModelProvider, ModelResponse, RunContextWrapper, RunHooks
from agents.tool_context import ToolContext

from runyard.agents.durable.tool_call import current_recorded_call
from runyard.agents.json_values import same
from runyard.agents.kinds.frameworks.messages import FrameworkTool
from runyard.agents.kinds.frameworks.run import FrameworkRun
from runyard.agents.kinds.openai_agents import messages as translate
from runyard.agents.tools.tool import Effects, Tool
from runyard.domain.events import Usage
from runyard.domain.state.conversation import refusal
from runyard.errors import ModelUnavailable, ToolFailed

HANDOFF = "handoff"
TEXT = ("response.output_text.delta", "response.refusal.delta")
THINKING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
FAILED = ("response.failed", "response.incomplete", "response.error", "error")


class RecordedModel(Model):
    """A model whose responses are recorded. It streams, whether or not the run does."""

    def __init__(self, model: Model, run: FrameworkRun) -> None:
        self._model = model
        self._run = run

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        tracing: Any,
        **more: Any,
    ) -> ModelResponse:
        asked = (system_instructions, input, model_settings, tools, output_schema, handoffs, tracing)
        if current_recorded_call.get() is not None:
            return await self._model.get_response(*asked, **more)  # of an agent that a recorded call runs
        self._run.end_invalid_calls(translate.results_in(input))
        names = frozenset(handoff.tool_name for handoff in handoffs)
        stored = await self._run.turn(
            str(getattr(self._model, "model", type(self._model).__name__)),
            partial(self._ask, asked, more),
            partial(translate.said_by, handoffs=names),
        )
        return translate.response_from(stored)

    def stream_response(self, *asked: Any, **more: Any) -> AsyncIterator[Any]:
        return self._model.stream_response(*asked, **more)  # only agents that a recorded call runs

    def get_retry_advice(self, request: Any) -> Any:
        return self._model.get_retry_advice(request)

    async def _ask(self, asked: tuple[Any, ...], more: Mapping[str, Any]) -> tuple[Any, Usage]:
        taken = self._run.call_ids | translate.call_ids_in(asked[1])
        try:
            output, response_id, usage = await self._stream(asked, more)
        except NotImplementedError:
            response = await self._model.get_response(*asked, **more)
            usage = Usage(response.usage.input_tokens, response.usage.output_tokens)
            output, response_id = response.output, response.response_id
            stored = translate.response_as_json(output, response_id, usage, taken)
            await self._run.token(translate.said_by(stored, frozenset()).text)
            return stored, usage
        return translate.response_as_json(output, response_id, usage, taken), usage

    async def _stream(self, asked: tuple[Any, ...], more: Mapping[str, Any]) -> tuple[list[Any], str | None, Usage]:
        done: list[Any] = []
        events: AsyncIterator[Any] = self._model.stream_response(*asked, **more)
        async for event in events:
            if event.type in TEXT:
                await self._run.token(event.delta)
            elif event.type in THINKING:
                await self._run.context.thinking(event.delta)
            elif event.type == "response.output_item.done":
                done.append(event.item)
            elif event.type in FAILED:
                raise ModelUnavailable("The model's answer was cut off; try again.")
            elif event.type == "response.completed":
                response = event.response
                return response.output or done, response.id, translate.usage_of(response)
        raise ModelUnavailable("The model's answer was cut off; try again.")


class RecordedProvider(ModelProvider):
    """A provider whose models are recorded."""

    def __init__(self, provider: ModelProvider, run: FrameworkRun) -> None:
        self._provider = provider
        self._run = run

    def get_model(self, model_name: str | None) -> Model:
        return RecordedModel(self._provider.get_model(model_name), self._run)


class RecordedHandoffs(RunHooks[Any]):
    """Records each handoff as a step."""

    def __init__(self, run: FrameworkRun) -> None:
        self._run = run

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        await self._run.mark(HANDOFF, {"from": from_agent.name, "to": to_agent.name})


class Copies:
    """The copies of one run. `effects` are those of the tools, by name."""

    def __init__(self, run: FrameworkRun, context: RunContextWrapper[Any], effects: Mapping[str, Effects]) -> None:
        self._run = run
        self._context = context
        self._effects = effects
        self._made: dict[int, Agent[Any]] = {}

    async def of(self, agent: Agent[Any], tools: Mapping[str, Tool[..., Any]] | None = None) -> Agent[Any]:
        """Return the copy of an agent. `tools` are tools of Runyard that it gets in addition."""
        found = self._made.get(id(agent))
        if found is not None:
            return found
        made = self._made[id(agent)] = copy(agent)  # before its handoffs, which may lead back to it
        if isinstance(agent.model, Model):
            made.model = RecordedModel(agent.model, self._run)
        listed = await agent.get_mcp_tools(self._context) if agent.mcp_servers else []
        made.mcp_servers = []
        made.tools = [self._tool(tool) for tool in (*listed, *agent.tools)]
        made.tools += [self._ours(tool) for tool in (tools or {}).values()]
        made.handoffs = [await self._handoff(each) for each in agent.handoffs]
        return made

    async def _handoff(self, handoff: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        if isinstance(handoff, Agent):
            return await self.of(handoff)
        made = copy(handoff)
        made.on_invoke_handoff = partial(self._hand_over, handoff)
        return made

    async def _hand_over(self, handoff: Handoff[Any, Any], context: Any, given: str) -> Agent[Any]:
        return await self.of(await handoff.on_invoke_handoff(context, given))

    def _tool(self, tool: Any) -> Any:
        if not isinstance(tool, FunctionTool):
            return tool
        made = copy(tool)
        made.on_invoke_tool = partial(self._invoke, tool)
        return made

    async def _invoke(self, tool: FunctionTool, context: ToolContext[Any], given: str) -> Any:
        call = self._run.requested(context.tool_call_id)
        if call is None:
            return await tool.on_invoke_tool(context, given)  # inside another call

        async def perform(wanted: dict[str, Any]) -> Any:
            edited = given if same(wanted, call.input) else msgspec.json.encode(wanted).decode()
            return translate.result_as_json(await tool.on_invoke_tool(context, edited))

        effects = self._effects.get(tool.name, "once")
        return translate.result_from(await self._run.call(call, FrameworkTool(call.name, perform, effects)))

    def _ours(self, tool: Tool[..., Any]) -> FunctionTool:
        return FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.schema,
            on_invoke_tool=partial(self._call_ours, tool),
            strict_json_schema=False,
        )

    async def _call_ours(self, tool: Tool[..., Any], context: ToolContext[Any], given: str) -> Any:
        call = self._run.requested(context.tool_call_id)
        assert call is not None  # the model requested it
        return await self._run.call_ours(call, tool)


async def decide(run: FrameworkRun, state: Any, item: Any) -> None:
    """Wait for a person's decision on a call, and tell the SDK."""
    raw = item.raw_item
    call = run.requested(raw.get("call_id") if isinstance(raw, dict) else getattr(raw, "call_id", None))
    if call is None:
        raise ToolFailed("A tool inside an agent that is a tool needs an approval. Give the agent itself the approval.")
    decided = await run.decision(call)
    if decided.state == "approved":
        state.approve(item)
    else:
        state.reject(item, rejection_message=refusal(decided))
