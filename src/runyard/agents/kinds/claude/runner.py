"""Run a claude agent: Claude Agent SDK asks the model, its messages become events, and our tools are its only tools.

The order of durable events is the same as for every kind: the model's message before its calls, the start of a call
before the call, its result before the model gets it. After a crash, or after a person has decided, the query is made
again. A call is identified by its tool and number (`send_message#2`). A recorded call with the same input is not made
again. A `none` or `idempotent` call with another input is made under its key. A `once` call with another input ends the
run.
"""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Any, assert_never

import msgspec

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.claude import Claude, home_of, is_kept, note_spent, spent_before
from runyard.agents.durable.outcome import outcome
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.replay import Replay
from runyard.agents.durable.tool_call import ToolCalls, error_text_for_model
from runyard.agents.durable.waits import Waits
from runyard.agents.execution import Execution, ModelOutput, Parked
from runyard.agents.json_values import plain, same
from runyard.agents.kinds.claude.messages import PREFIX, SERVER, MessagePiece, QueryEnd, ToolUse, read_message
from runyard.agents.kinds.claude.prompt import prompt_of, with_file_names
from runyard.agents.mcp.serving import mcp_server
from runyard.agents.tools.tool import Tool
from runyard.domain.events import ModelMessage, ModelReset, StepFinished, StepStarted, ToolFinished, ToolStarted, Usage
from runyard.domain.runs.ledger import THINK
from runyard.domain.state.run_state import State
from runyard.errors import InvalidInput, ModelUnavailable, Nondeterministic, ToolFailed, Unavailable, WriteRefused

HISTORY = 20
BETWEEN_TURNS = "\n\n"


async def run_claude(agent: Agent, execution: Execution, /) -> ModelOutput:
    parking = Parking()
    main = await parking.run_until_parked(_Query(agent, execution, parking).run(), f"agent:{execution.run.id}")
    if main is None:
        raise Parked(parking.waits)
    return outcome(main, execution)


class _Step:
    """One message of the model: the pieces received, and how much of them is recorded."""

    def __init__(self, key: str, message_id: str, usage: Usage) -> None:
        self.key = key
        self.message_id = message_id
        self.usage: Usage | None = usage  # None once it is counted
        self.counted = Usage()
        self.text: list[str] = []
        self.tool_uses: list[ToolUse] = []


class _Query:
    def __init__(self, agent: Agent, execution: Execution, parking: Parking) -> None:
        assert agent.claude is not None  # the declaration was checked
        replay = Replay(execution.state)
        self._agent = agent
        self._claude: Claude = agent.claude
        self._execution = execution
        self._replay = replay
        self._context = Context(agent, execution, parking, Replay(State()))  # everything it writes is new
        waits = Waits(execution, replay, parking, agent.on_unknown)
        self._calls = ToolCalls(execution, replay, parking, waits, self._context.flush_text)
        self._known = {call.call_id: call for call in execution.state.calls}
        self._steps = len(execution.state.steps)
        self._step: _Step | None = None
        self._counted = Usage()
        self._seen: dict[str, asyncio.Event] = {}
        self._keys: dict[str, str] = {}  # of requested calls, by the SDK's ids
        self._acted = False
        self._failure: Exception | None = None
        self._main: asyncio.Task[Any] | None = None

    async def run(self) -> ModelOutput:
        if self._execution.state.open_text:
            self._execution.emit(ModelReset(after=self._execution.state.last_result_seq))
        self._main = asyncio.current_task()
        keep = self._claude.sessions and self._execution.run.in_mailbox
        try:
            with home_of(self._agent.name, self._execution.run.thread_id if keep else None) as home:
                session = self._claude.session if keep else None
                resume = session if session is not None and is_kept(home, session) else None
                end = await self._run_query(self._options(home, resume, await self._instructions()))
                spent = 0.0 if resume is None else spent_before(home, resume)
                self._end(end, spent)
                if keep:
                    note_spent(home, end.session_id, end.usage.usd)
        except asyncio.CancelledError:
            if self._failure is None:
                raise
            raise self._failure from None
        if end.error is not None:
            raise end.error
        silent = end.why == "end_turn" and self._execution.run.in_mailbox and not self._acted
        return ModelOutput(
            self._context.written(),
            stop_reason="no_tool_call" if silent else end.why,
            session_id=end.session_id if keep else None,
        )

    # --- the query

    async def _instructions(self) -> str:
        """Return the instructions, with the thread's history unless it is a channel, whose prompt has it already."""
        if self._execution.run.in_mailbox:
            return self._agent.instructions
        earlier = await self._execution.history(HISTORY)
        said = "".join(f"\n{message.role}: {with_file_names(message)}" for message in earlier)
        return f"{self._agent.instructions}\n\n## Said before{said}" if said else self._agent.instructions

    def _options(self, home: Any, resume: str | None, instructions: str) -> Any:
        from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

        tools = self._agent.tools
        last = "|".join(PREFIX + tool.name for tool in tools if tool.ends_turn)
        server: Any = {"type": "sdk", "name": SERVER, "instance": mcp_server(SERVER, tools, self._make)}
        return ClaudeAgentOptions(
            model=self._claude.model,
            system_prompt=instructions,
            tools=[],
            allowed_tools=[PREFIX + tool.name for tool in tools],
            mcp_servers={SERVER: server} if tools else {},
            strict_mcp_config=True,
            setting_sources=[],
            permission_mode="dontAsk",
            hooks={"PostToolUse": [HookMatcher(matcher=last, hooks=[_stop])]} if last else None,
            resume=resume,
            max_turns=self._claude.max_turns,
            max_budget_usd=self._claude.max_usd,
            cwd=home,
            env=self._claude.process_environment(home),
        )

    async def _run_query(self, options: Any) -> QueryEnd:
        """Run the query, record its messages, and return its end."""
        from claude_agent_sdk import ClaudeSDKError, query
        from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

        prompt = await prompt_of(self._execution)
        program = SubprocessCLITransport(prompt=prompt, options=options)
        asking: Any = query(prompt=prompt, options=options, transport=program)
        end: QueryEnd | None = None
        try:
            async with aclosing(asking) as messages:
                async for each in messages:
                    match read_message(each):
                        case MessagePiece() as piece:
                            await self._record_piece(piece)
                        case QueryEnd() as end:
                            pass
                        case None:
                            pass
                        case never:
                            assert_never(never)
        except ClaudeSDKError:
            if end is None:
                raise ModelUnavailable from None  # its message may hold content
        except Exception:
            if end is None:  # otherwise it repeats that the query failed
                raise
        finally:
            _kill(program)
        if end is None:
            raise ModelUnavailable("Claude Agent SDK ended without a result.")
        return end

    # --- messages

    async def _record_piece(self, piece: MessagePiece) -> None:
        step = self._step
        if step is None or step.message_id != piece.message_id:
            self._end_step()
            self._steps += 1
            step = self._step = _Step(f"turn#{self._steps}", piece.message_id, piece.usage)
            self._execution.emit(StepStarted(step.key, THINK, self._claude.model))
        if piece.thinking:
            await self._context.thinking(piece.thinking)
        if piece.text:
            gap = BETWEEN_TURNS if self._context.written() else ""
            await self._context.token(gap + piece.text)
            self._context.flush_text()
            step.text.append(piece.text)
        step.tool_uses += piece.tool_uses
        for tool_use in piece.tool_uses:
            self._keys[tool_use.id] = self._replay.key(tool_use.name)
            self._announced(tool_use.id).set()

    def _write(self, step: _Step, rest: Usage | None = None) -> None:
        """Record the pieces that are not recorded yet; `rest` is the step's remaining cost, once known."""
        if not step.text and not step.tool_uses and rest is None:
            return
        usage = rest if rest is not None else step.usage
        message: dict[str, Any] = {"role": "assistant", "content": "".join(step.text) or None}
        if step.tool_uses:
            message["tool_calls"] = [_function(self._keys[tool_use.id], tool_use) for tool_use in step.tool_uses]
        self._execution.emit(ModelMessage(step.key, plain(message), usage))
        step.counted += usage or Usage()
        self._counted += usage or Usage()
        step.usage, step.text, step.tool_uses = None, [], []

    def _end_step(self, rest: Usage | None = None) -> None:
        if (step := self._step) is not None:
            self._write(step, rest)
            self._execution.emit(StepFinished(step.key, THINK, step.counted))
            self._step = None

    def _end(self, end: QueryEnd, before: float) -> None:
        """Add the usage that is not counted yet to the last step. The SDK reports the total only at the end."""
        all_of_it, counted = end.usage, self._counted
        rest = Usage(
            max(0, all_of_it.input_tokens - counted.input_tokens),
            max(0, all_of_it.output_tokens - counted.output_tokens),
            max(0.0, all_of_it.usd - before),
        )
        self._end_step(rest)

    # --- tools

    def _announced(self, use_id: str) -> asyncio.Event:
        return self._seen.setdefault(use_id, asyncio.Event())

    async def _make(self, tool: Tool[..., Any], given: dict[str, Any], use_id: str | None) -> Any:
        """Make a call that the SDK requests, after the model's message is recorded."""
        try:
            if use_id is not None:
                await self._announced(use_id).wait()
            if self._step is not None:
                self._write(self._step)
            key = self._keys.get(use_id or "") or self._replay.key(tool.name)
            return await self._make_call(tool, key, given)
        except (Nondeterministic, WriteRefused, Unavailable) as error:
            self._failure = error
            if self._main is not None:
                self._main.cancel()
            raise

    async def _make_call(self, tool: Tool[..., Any], key: str, given: Mapping[str, Any]) -> Any:
        given = self._execution.redactor.value(tool.in_order(plain(dict(given))))
        try:
            tool.check(given)
        except InvalidInput as error:
            self._execution.emit(ToolStarted(key, tool.name, given))
            self._execution.emit(
                ToolFinished(key, tool.name, error_text_for_model(error, self._execution), "invalid_input")
            )
            raise
        self._acted = True
        known = self._known.get(key)
        if known is not None and not same(known.asked, given):
            if tool.effects == "once":
                raise Nondeterministic
            known = None
        if known is not None and known.status == "finished":
            self._replay.use(key)
            return _result(known.error, known.output)
        result = await self._calls.make(tool, key, given, known, self._context)
        return _result(result.error, result.output)


def _result(error: str | None, output: Any) -> Any:
    if error is not None:
        raise ToolFailed(output if isinstance(output, str) else None, error=error)
    return output


def _function(key: str, tool_use: ToolUse) -> dict[str, Any]:
    arguments = msgspec.json.encode(plain(tool_use.input)).decode()
    return {"id": key, "type": "function", "function": {"name": tool_use.name, "arguments": arguments}}


def _kill(program: Any) -> None:
    """Kill the SDK's program. The SDK stops it gently, which a cancel interrupts; no process may outlive its run."""
    process = program._process
    if process is not None and process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()


async def _stop(*_: Any) -> Any:
    """Stop the query after a tool that ends the turn, so that the model is not asked again."""
    return {"continue_": False}
