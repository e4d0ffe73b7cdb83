"""A checkpointer of LangGraph whose checkpoints are in the log of the run.

Every write of the graph is an event `step.finished` with the name `checkpoint` and without a start. So it is fenced,
sealed, redacted, copied by a fork and deleted like the rest of the log, on every store. The key of the event holds the
structure (ids, versions, names), which is no content; the result holds the values. Reads are answered from memory by
LangGraph's own saver, which has what this process wrote and, after a resume, what the log has.

A checkpoint is durable before the next step of the graph starts, and with it the writes of the nodes before it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from threading import get_ident
from typing import Any, Protocol, TypeVar

import msgspec
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, get_checkpoint_metadata
from langgraph.checkpoint.memory import InMemorySaver
from msgspec import Struct

from runyard.agents.json_values import plain
from runyard.agents.kinds.langgraph.graph_values import GraphValues
from runyard.domain.state.run_state import StepState

CHECKPOINT = "checkpoint"
INTERRUPT, RESUME, ERROR = "__interrupt__", "__resume__", "__error__"  # channels of LangGraph
_OF_CHECKPOINTS = frozenset({"v", "ts", "id", "channel_versions", "versions_seen", "updated_channels"})
_OF_METADATA = frozenset({"source", "step", "parents"})
T = TypeVar("T")
Writes = Sequence[tuple[str, Any]]


class Journal(Protocol):
    """The part of a run that the checkpointer uses."""

    def record(self, key: str, result: Any) -> None:
        """Write an event with this key and result. Never blocks."""

    async def commit(self) -> None:
        """Wait until everything that was recorded is durable."""

    @property
    def is_closed(self) -> bool:
        """Whether the execution was stopped. Nothing is recorded any more."""


class Written(Struct, frozen=True):
    """The writes of one task. `answers` is the number of answers to its interrupts that the task has."""

    namespace: str
    task_id: str
    writes: Writes
    answers: int


class _Record(Struct, omit_defaults=True):
    """The structure of one event: an operation and its arguments, without values of the graph. `names` are the names
    that its values use for the first time, and `channels` the channels that its values belong to."""

    op: str
    arguments: dict[str, Any]
    channels: list[str] = []
    names: list[str] = []


class RunCheckpointer(InMemorySaver):
    """The checkpoints of one run, whose own thread of LangGraph is `thread_id`. Made in the event loop of the run; its
    methods that block also work in threads.

    `on_writes` gets the writes of every task before they are recorded, and `on_recorded` afterwards. `on_recorded` also
    gets those that the log has."""

    def __init__(self, journal: Journal, thread_id: str) -> None:
        super().__init__()
        self._thread_id = thread_id
        self._journal = journal
        self._values = GraphValues(self.serde)
        self._loop = asyncio.get_running_loop()
        self._loop_thread = get_ident()
        self._records = 0
        self._named = 0  # how many of the names are in the log
        self._order = asyncio.Lock()  # a checkpoint follows the writes that it is made of
        self.on_writes: Callable[[str, Writes], Awaitable[None]] = _nothing
        self.on_recorded: Callable[[Written], None] = lambda _: None

    def replay(self, steps: Iterable[StepState]) -> None:
        """Take over the checkpoints that the log has."""
        for step in steps:
            if is_record(step):
                self._records += 1
                found = msgspec.json.decode(step.key.partition(" ")[2], type=_Record)
                self._values.add_names(found.names)
                self._named = len(self._values.names)
                self._apply(found, step.result)

    # --- checkpoints

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        if get_ident() != self._loop_thread:
            return self._in_loop(self.aput(config, checkpoint, metadata, new_versions))
        if self._journal.is_closed:
            return config
        made = super().put(config, checkpoint, metadata, new_versions)
        place, values = self._place(config), checkpoint["channel_values"]
        channels = [channel for channel in new_versions if channel in values]
        kept, other = _split(checkpoint, _OF_CHECKPOINTS)
        other.pop("channel_values")
        known_metadata, other_metadata = _split(get_checkpoint_metadata(config, metadata), _OF_METADATA)
        arguments = {"place": place, "checkpoint": kept, "metadata": known_metadata, "versions": dict(new_versions)}
        trees = [self._values.encode_change(values[channel], _spot(place, channel)) for channel in channels]
        encoded = [*trees, self._values.encode(other), self._values.encode(other_metadata)]
        self._record("put", arguments, channels, encoded)
        return made

    def _put_again(self, found: _Record, trees: Sequence[Any]) -> None:
        place = found.arguments["place"]
        *values, other, other_metadata = trees
        checkpoint: Any = {
            **found.arguments["checkpoint"],
            **self._values.decode(other),
            "channel_values": {
                channel: self._values.decode_change(tree, _spot(place, channel))
                for channel, tree in zip(found.channels, values, strict=True)
            },
        }
        metadata: Any = {**found.arguments["metadata"], **self._values.decode(other_metadata)}
        super().put({"configurable": self._with_thread(place)}, checkpoint, metadata, found.arguments["versions"])

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        async with self._order:
            made = self.put(config, checkpoint, metadata, new_versions)
        await self._journal.commit()
        return made

    # --- writes of tasks

    def put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        if get_ident() != self._loop_thread:
            self._in_loop(self.aput_writes(config, writes, task_id, task_path))
        elif not self._journal.is_closed:
            self._put_writes(config, writes, task_id, task_path)

    async def aput_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str = "") -> None:
        async with self._order:
            if not self._journal.is_closed:
                await self.on_writes(task_id, writes)
                self._put_writes(config, writes, task_id, task_path)

    def _put_writes(self, config: RunnableConfig, writes: Writes, task_id: str, task_path: str) -> None:
        super().put_writes(config, writes, task_id, task_path)
        place = self._place(config)
        arguments = {"place": place, "task": task_id, "path": task_path}
        trees = [self._values.encode(value) for _, value in writes]
        self._record("put_writes", arguments, [channel for channel, _ in writes], trees)
        self._tell(place, task_id, writes)

    def _put_writes_again(self, found: _Record, trees: Sequence[Any]) -> None:
        place, task_id = found.arguments["place"], found.arguments["task"]
        writes = [(channel, self._values.decode(tree)) for channel, tree in zip(found.channels, trees, strict=True)]
        super().put_writes({"configurable": self._with_thread(place)}, writes, task_id, found.arguments["path"])
        self._tell(place, task_id, writes)

    def _tell(self, place: Mapping[str, str], task_id: str, writes: Writes) -> None:
        thread_id = self._with_thread(place)["thread_id"]
        saved = self.writes[thread_id, place["checkpoint_ns"], place["checkpoint_id"]].values()
        answers = [
            self.serde.loads_typed(value) for task, channel, value, _ in saved if (task, channel) == (task_id, RESUME)
        ]
        self.on_recorded(Written(place["checkpoint_ns"], task_id, writes, sum(len(each) for each in answers)))

    # --- threads

    def delete_thread(self, thread_id: str) -> None:
        if get_ident() != self._loop_thread:
            self._in_loop(self.adelete_thread(thread_id))
            return
        super().delete_thread(thread_id)
        if not self._journal.is_closed:
            self._record("delete_thread", {"thread_id": thread_id})

    # --- the log

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Return the next version of a channel: a number, because one process at a time works on a run."""
        return 1 if current is None else int(current) + 1

    def _record(
        self, op: str, arguments: Mapping[str, Any], channels: Sequence[str] = (), trees: Sequence[Any] = ()
    ) -> None:
        self._records += 1
        names = self._values.names[self._named :]
        self._named = len(self._values.names)
        structure = msgspec.json.encode(_Record(op, plain(arguments), list(channels), names)).decode()
        self._journal.record(f"{CHECKPOINT}:{self._records} {structure}", plain(trees) if trees else None)

    def _apply(self, found: _Record, trees: Any) -> None:
        match found.op:
            case "put":
                self._put_again(found, trees)
            case "put_writes":
                self._put_writes_again(found, trees or [])
            case "delete_thread":
                super().delete_thread(found.arguments["thread_id"])
            case _:
                raise ValueError(f"unknown record of a checkpoint: {found.op}")

    def _place(self, config: RunnableConfig) -> dict[str, str]:
        """Return where a checkpoint belongs. The run's own thread is not named."""
        known = config["configurable"]
        place = {"checkpoint_ns": known.get("checkpoint_ns", "")}
        if known.get("checkpoint_id"):
            place["checkpoint_id"] = known["checkpoint_id"]
        return place if known["thread_id"] == self._thread_id else {**place, "thread_id": known["thread_id"]}

    def _with_thread(self, place: Mapping[str, str]) -> dict[str, str]:
        return {"thread_id": self._thread_id, **place}

    def _in_loop(self, call: Coroutine[Any, Any, T]) -> T:
        """Wait in a thread of a node for a call in the event loop of the run."""
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()


async def _nothing(task_id: str, writes: Writes) -> None:
    pass


def is_record(step: StepState) -> bool:
    """Return whether a step of the log is a record of a checkpointer. Names of nodes have no colon."""
    return step.name == CHECKPOINT and step.key.startswith(f"{CHECKPOINT}:")


def _spot(place: Mapping[str, str], channel: str) -> tuple[str | None, str, str]:
    return place.get("thread_id"), place["checkpoint_ns"], channel


def _split(fields: Mapping[str, Any], known: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the known fields, which are structure, and the others, which may be content."""
    kept = {name: value for name, value in fields.items() if name in known}
    return kept, {name: value for name, value in fields.items() if name not in known}
