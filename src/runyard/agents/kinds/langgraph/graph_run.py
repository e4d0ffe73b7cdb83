"""One execution of a graph: from its last checkpoint to its answer, or to the next questions.

The log records everything: the graph's checkpoints and writes, its nodes as steps, the text of its models, the calls of
Runyard's tools and the questions. After a crash LangGraph finds its last checkpoint and continues.
A node that did not finish runs again from its start.
"""

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.errors import GraphRecursionError
from langgraph.types import Command, PregelTask
from pydantic import BaseModel

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.graph import MESSAGES, Graph
from runyard.agents.durable.replay import Replay
from runyard.agents.durable.tool_call import ToolCalls
from runyard.agents.durable.waits import Waits
from runyard.agents.execution import Execution, ForkedCopy, ModelOutput
from runyard.agents.json_values import plain
from runyard.agents.kinds.langgraph.callbacks import GraphCallbacks, text_of, usage_of
from runyard.agents.kinds.langgraph.checkpointer import CHECKPOINT, ERROR, INTERRUPT, RunCheckpointer, Writes, Written
from runyard.agents.kinds.langgraph.fork_point import ForkPoint
from runyard.agents.kinds.langgraph.interrupts import Interrupts
from runyard.agents.kinds.langgraph.node_steps import GraphParking, NodeSteps, path_of
from runyard.agents.kinds.langgraph.recorded_tools import GraphCalls, current_graph_calls
from runyard.agents.kinds.langgraph.spoken_text import SpokenText
from runyard.agents.user_code.frames import calls_user_code
from runyard.base.ids import new_id
from runyard.domain.content.parts import text_and_data
from runyard.domain.conversations.thread import Message
from runyard.domain.events import ModelReset, StepFinished, Usage, clean
from runyard.domain.runs.run import StopReason
from runyard.domain.state.run_state import State
from runyard.errors import AgentError, FilesNotSupported

CUSTOM = "custom"  # the name of events with data that a node streams
EARLIER = "earlier-"  # begins the ids of messages of earlier runs


class GraphRun:
    def __init__(self, agent: Agent, execution: Execution, parking: GraphParking, copy: ForkedCopy | None) -> None:
        assert agent.graph is not None  # the declaration was checked
        self._declared: Graph = agent.graph
        self._execution = execution
        self._parking = parking
        replay = Replay(execution.state)
        self._context = Context(agent, execution, parking, Replay(State()))  # everything it writes is new
        waits = Waits(execution, replay, parking, agent.on_unknown)
        calls = ToolCalls(execution, replay, parking, waits, self._context.flush_text)
        self._copy = ForkPoint(copy, execution.state)
        self._calls = GraphCalls(execution, replay, calls, self._context, self._copy.calls)
        self._interrupts = Interrupts(replay, waits)
        self._nodes = NodeSteps(execution, parking)
        self._shown: set[str] = set()  # ids of messages that were shown or must not be
        self._said: dict[str, set[str]] = {}  # texts of the models of each node
        self._custom = sum(step.name == CUSTOM for step in execution.state.steps)
        self._checkpoints = RunCheckpointer(self, execution.run.id)
        self._text = self._take_over()
        self._checkpoints.on_writes = self._before_writes
        self._checkpoints.on_recorded = self._after_writes

    def _take_over(self) -> SpokenText:
        """Withdraw unfinished text, and take over the checkpoints that the log has. Return the text that it has."""
        state = self._execution.state
        if state.open_text:
            self._execution.emit(ModelReset(after=state.last_result_seq))
        self._checkpoints.on_recorded = self._note_recorded
        self._checkpoints.replay(state.steps)
        for step in self._copy.missing:
            self.record(step.key, step.result)
        self._checkpoints.replay(self._copy.missing)
        return SpokenText(self._context, state, self._nodes.has_unfinished)

    async def run(self) -> ModelOutput:
        graph = self._declared.with_checkpointer(self._checkpoints)
        config = self._config()
        current_graph_calls.set(self._calls)
        why = await self._run_graph(graph, config)
        state = await graph.aget_state(config)
        return await self._output(state.values, why)

    def open_waits(self) -> list[str]:
        """Return what the parked run waits for: tools of nodes, and questions."""
        return list(dict.fromkeys([*self._parking.waits, *self._interrupts.pending()]))

    async def _run_graph(self, graph: Any, config: RunnableConfig) -> StopReason:
        """Run the graph until it has ended. Block while it only waits for answers."""
        has_begun = await self._checkpoints.aget_tuple(config) is not None and not self._copy.wants_message
        given: Any = None if has_begun else await self._input()
        has_run = False
        while True:
            if given is None:
                state = await graph.aget_state(config)
                if not state.tasks:
                    return "end_turn"
                pending = self._interrupts.still_open(state.interrupts)
                self._interrupts.ask(pending)
                answers = self._interrupts.answers(pending)
                given = Command(resume=answers) if answers else None
                if pending and not answers and (has_run or not any(map(self._can_run, state.tasks))):
                    self._parking.end_all()
                    await self._interrupts.block(pending)
            try:
                await self._stream(graph, given, config)
            except GraphRecursionError:
                return "max_steps"
            given, has_run = None, True

    def _can_run(self, task: PregelTask) -> bool:
        """Return whether a task of the current step has neither ended nor an open interrupt."""
        return task.result is None and not self._interrupts.still_open(task.interrupts)

    @calls_user_code
    async def _stream(self, graph: Any, given: Any, config: RunnableConfig) -> None:
        streaming = graph.astream(given, config, stream_mode=["messages", "custom"], subgraphs=True, durability="sync")
        async with aclosing(streaming) as pieces:
            async for _, mode, data in pieces:
                if mode == "custom":
                    self._emit_custom(data)

    def _config(self) -> RunnableConfig:
        run = self._execution.run
        return {
            "configurable": {"thread_id": run.id, "runyard_thread_id": run.thread_id},
            "callbacks": [GraphCallbacks(self)],
            "recursion_limit": self._declared.max_steps,
        }

    # --- messages in and out

    async def _input(self) -> dict[str, Any]:
        task, message = self._execution.state.task, self._execution.message
        if message is not None and message.files:
            raise FilesNotSupported("The graph takes no files. Send text, or run another kind of agent.")
        given: dict[str, Any] = {} if task is None else dict(task.inputs)
        if self._declared.has_messages and MESSAGES not in given:
            limit = 0 if self._copy.wants_message else self._declared.history  # the checkpoint has the messages
            earlier = await self._execution.history(limit) if limit else []
            said: list[BaseMessage] = [_message(each) for each in earlier]
            if message is not None:
                said.append(HumanMessage(text_and_data(message.text, message.parts), id=message.id))
            given[MESSAGES] = said
        if not given:
            raise AgentError("The graph takes no messages; give it a task with inputs.")
        return given

    async def _output(self, values: Any, why: StopReason) -> ModelOutput:
        """Return all text that was shown. The last message of the model is the answer, so it is shown in any case."""
        known: Mapping[str, Any] = values if isinstance(values, Mapping) else {}
        said = [each for each in known.get(MESSAGES) or () if isinstance(each, AIMessage) and not _is_earlier(each)]
        last = self._as_stored(clean(text_of(said[-1])[0])) if said else ""
        if last not in self._text.all():
            await self._text.say("last", last)
            await self._text.end("last")
        text = self._text.all()
        outputs = {name: known[name] for name in self._declared.outputs if name in known and name != MESSAGES}
        return ModelOutput(
            text=text,
            outputs=_json_only(outputs),
            stop_reason=why,
            last=last if said and last != text else None,
        )

    def _as_stored(self, text: str) -> str:
        return self._execution.redactor.text(text)

    # --- what the nodes and models of the graph do (`callbacks.GraphListener`)

    def node_started(self, namespace: str) -> None:
        if not self.is_closed:
            self._calls.begin(namespace)
            self._nodes.start(namespace)

    async def model_wrote(self, namespace: str, call: str, text: str, thinking: str) -> None:
        if not self._declared.shows(path_of(namespace)):
            return
        self._nodes.wrote(namespace)
        if thinking:
            await self._context.thinking(thinking)
        await self._text.say(call, text)

    async def model_ended(self, namespace: str, call: str, message: AIMessage | None) -> None:
        if message is not None:
            if (usage := usage_of(message)) is not None:
                self._nodes.spend(namespace, usage)
            self._said.setdefault(namespace, set()).add(text_of(message)[0])
            if message.id is not None:
                self._shown.add(message.id)
        await self._text.end(call)

    def _emit_custom(self, data: Any) -> None:
        try:
            value = plain(data)
        except (TypeError, ValueError):
            value = clean(str(data))
        self._custom += 1
        self._execution.emit(StepFinished(f"{CUSTOM}:{self._custom}", CUSTOM, result=value))

    # --- the journal of the checkpointer (`checkpointer.Journal`)

    def record(self, key: str, result: Any) -> None:
        self._execution.emit(StepFinished(key, CHECKPOINT, result=result))

    async def commit(self) -> None:
        with self._parking.working():
            await self._execution.commit()

    @property
    def is_closed(self) -> bool:
        return self._parking.closed or self._execution.cancelled

    async def _before_writes(self, task_id: str, writes: Writes) -> None:
        """Show messages that a node made without a model. They get an id, by which a resumed run knows them."""
        namespace = self._nodes.namespace(task_id)
        for message in _messages(writes):
            if message.id is None:
                message.id = new_id()
            text = text_of(message)[0]
            is_new = message.id not in self._shown and text not in self._said.get(namespace, ())
            self._shown.add(message.id)
            if is_new and self._declared.shows(path_of(namespace)):
                self._nodes.wrote(namespace)
                await self._text.say(message.id, text)
                await self._text.end(message.id)

    def _after_writes(self, written: Written) -> None:
        channels = {channel for channel, _ in written.writes}
        if INTERRUPT in channels:
            self._interrupts.ask(self._interrupts.note(written))
            self._nodes.pause(written.task_id)
        elif ERROR in channels:
            errors = [value for channel, value in written.writes if channel == ERROR]
            self._nodes.finish(written.task_id, type(errors[0]).__name__)
        elif not channels <= WRITES_IDX_MAP.keys():
            self._nodes.finish(written.task_id)

    def _note_recorded(self, written: Written) -> None:
        """Take over the writes that the log has."""
        self._interrupts.note(written)
        messages = [message for message in _messages(written.writes) if message.id not in self._shown]
        self._shown.update(message.id for message in messages if message.id is not None)
        if any(channel not in WRITES_IDX_MAP for channel, _ in written.writes):
            usage = [found for message in messages if (found := usage_of(message)) is not None]
            self._nodes.finish_late(written.task_id, sum(usage, Usage()) if usage else None)


def _message(message: Message) -> BaseMessage:
    made = AIMessage if message.role == "assistant" else HumanMessage
    return made(message.text, id=f"{EARLIER}{message.id}")


def _messages(writes: Writes) -> list[AIMessage]:
    """Return the messages of a model among the writes of a node."""
    found = [value for channel, value in writes if channel == MESSAGES]
    flat = [each for value in found for each in (value if isinstance(value, list | tuple) else [value])]
    return [each for each in flat if isinstance(each, AIMessage) and not _is_earlier(each)]


def _is_earlier(message: AIMessage) -> bool:
    return (message.id or "").startswith(EARLIER)


def _json_only(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are JSON, or models of pydantic."""
    found = {}
    for name, value in values.items():
        try:
            found[name] = plain(value.model_dump(mode="json") if isinstance(value, BaseModel) else value)
        except (TypeError, ValueError):
            continue
    return found
