"""Follows a thread: the events of all its runs as one stream, which stays open from run to run.

The seq of an event is the position of its run in the queue of the thread, and its number among the events of the run.
Both are durable, and the runs before it do not change them, not even when the retention policy deletes these runs. So a
seq is the same on every pod and in every replay, and a client that has seen one gets exactly the rest. A run is shown
when the runs before it in the queue have ended.
"""

import asyncio
from collections import deque
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from runyard.domain.conversations.thread import Thread
from runyard.domain.events import Event
from runyard.domain.runs.run import Run
from runyard.engine.engine import Engine
from runyard.engine.log.snapshots import translation_kind
from runyard.engine.log.stream import AWAY_SECONDS, Pause
from runyard.engine.log.stream import Follower as LogFollower
from runyard.errors import NotFound, Unavailable
from runyard.faces.langgraph.follow import ShownRun, earlier_messages, has_begun
from runyard.faces.langgraph.objects import Shown
from runyard.faces.langgraph.start import before
from runyard.faces.langgraph.state import State
from runyard.faces.langgraph.thread_events import ThreadEvent, ThreadState, ThreadTranslation
from runyard.web.context import Context
from runyard.web.streaming.sse import LiveStream

BITS = 32  # of a seq for the number of an event; the others, up to 2**53, are for the position of the run
STEPS = 1_000_000  # of a run, for the order of states in a thread
PAGE = 20  # runs that are read to find new ones
REPLAYED = 10  # runs that a stream begins with if it names no position
THREAD_TRANSLATION = translation_kind("langgraph_thread", 1, ThreadState, ThreadTranslation)
_encode = msgspec.json.Encoder().encode


def seq_of(run: Run, number: int) -> int:
    return run.pos << BITS | number


def step_of(thread: Thread, run: Run, state: State) -> int:
    """Return the order of a state among those of a thread. States of the thread that it was forked from are first."""
    return run.pos * STEPS + min(state.states, STEPS - 1) if run.thread_id == thread.id else -1


async def seq_now(engine: Engine, run: Run) -> int:
    """Return the seq of the last event that the run has so far."""
    return seq_of(run, (await engine.views.fold(run, THREAD_TRANSLATION)).state.count)


async def newest_and_open_runs(engine: Engine, owner: str, thread_id: str) -> list[Run]:
    """Return the newest runs of a thread, and all that have not ended."""
    newest = await engine.views.runs(owner, None, PAGE, thread_id=thread_id)
    return await _with_open_runs(engine, newest, owner, thread_id)


async def _with_open_runs(engine: Engine, newest: Sequence[Run], owner: str, thread_id: str) -> list[Run]:
    if len(newest) < PAGE:
        return list(newest)
    found = {run.id: run for run in (*newest, *await engine.views.open_runs(owner, thread_id))}
    return list(found.values())


class StreamRequest(NamedTuple):
    """The events that a stream shows. `since`: those after this seq; None: those of the newest runs."""

    channels: Collection[str]
    is_root: bool = True
    since: int | None = None

    def has(self, event: ThreadEvent) -> bool:
        channel = event.channel
        return self.is_root and (
            channel in self.channels or (channel.startswith("custom:") and "custom" in self.channels)
        )


class RunEncoder:
    """Encodes the events of one run that the stream wants. `base` are the messages before those of the run, once they
    are needed."""

    def __init__(self, run: Run, wanted: StreamRequest) -> None:
        self.run = run
        self.translation = ThreadTranslation(run.id)
        self.base: Sequence[Shown] | None = None if "values" in wanted.channels and wanted.is_root else []
        self._wanted = wanted
        self._after = wanted.since or 0

    def take(self, event: Event) -> bytes:
        found = self.translation.take(event)
        first = seq_of(self.run, self.translation.state.count - len(found) + 1)
        return b"".join(
            self._encoded(each, first + n, event.ts)
            for n, each in enumerate(found)
            if first + n > self._after and self._wanted.has(each)
        )

    def _encoded(self, event: ThreadEvent, seq: int, ts: int) -> bytes:
        event_id = f"{self.run.pos}-{seq & (1 << BITS) - 1}"
        node = {} if event.node is None else {"node": event.node}
        params = {"namespace": [], "timestamp": ts, **node, "data": self._completed(event)}
        shown = {"type": "event", "event_id": event_id, "seq": seq, "method": event.method, "params": params}
        return b"id: %b\nevent: %b\ndata: %b\n\n" % (event_id.encode(), event.method.encode(), _encode(shown))

    def _completed(self, event: ThreadEvent) -> Shown:
        data: Shown = event.data
        if event.method == "values":
            return {**data, "messages": [*(self.base or ()), *data["messages"]]}
        if event.method == "checkpoints":
            step = self.run.pos * STEPS + min(data["step"], STEPS - 1)
            return {"id": self.run.id, "parent_id": before(self.run), "step": step, "source": data["source"]}
        return data


class ThreadFollower:
    """A cursor over the runs of a thread, in the order of their queue."""

    def __init__(self, engine: Engine, thread: Thread, wanted: StreamRequest) -> None:
        self._engine = engine
        self._thread = thread
        self._wanted = wanted
        self._last = None if wanted.since is None else (wanted.since >> BITS) - 1  # the position of the last run
        self._runs: deque[Run] = deque()
        self._known: dict[str, ShownRun] = {}
        self._encoder: RunEncoder | None = None
        self._log: LogFollower | None = None
        self._is_gone = False
        self._wakeup = asyncio.Event()
        engine.streams.tail.threads.subscribe(thread.id, self._wakeup.set)

    async def next(self, patience: float) -> Sequence[bytes] | Pause:
        until = asyncio.get_running_loop().time() + patience
        while (pause := self._pause()) is None:
            left = until - asyncio.get_running_loop().time()
            if left <= 0:
                return Pause.IDLE
            if self._log is None:
                try:
                    await self._begin_run(until)
                except NotFound:
                    return Pause.CUT  # the thread was deleted
                continue
            found = await self._log.next(left)
            if isinstance(found, list):
                return [await self._piece(event) for chunk in found for event in chunk.events]
            if found in (Pause.IDLE, Pause.GONE):
                return found
            self._end_run()  # it has ended, or was deleted
        return pause

    def _pause(self) -> Pause | None:
        if self._is_gone:
            return Pause.GONE
        return Pause.CUT if self._engine.streams.is_cut else None

    async def _piece(self, event: Event) -> bytes:
        assert self._encoder is not None
        if self._encoder.base is None and has_begun(event):
            state = self._encoder.translation.run.state
            self._encoder.base = await earlier_messages(self._engine, self._encoder.run, state, self._known)
        return self._encoder.take(event)

    # --- runs

    async def _begin_run(self, until: float) -> None:
        """Begin to follow the next run, or wait for one."""
        self._wakeup.clear()
        try:
            if not self._runs:
                self._runs.extend(await self._newer())
        except Unavailable:
            await asyncio.sleep(AWAY_SECONDS)
            return
        if not self._runs:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._wakeup.wait()
            return
        run = self._runs.popleft()
        self._last = run.pos
        self._encoder = RunEncoder(run, self._wanted)
        self._log = self._engine.streams.follow(run.id, 0)

    def _end_run(self) -> None:
        if self._log is not None:
            self._log.close()
        self._log = self._encoder = None

    async def _newer(self) -> list[Run]:
        """Return the runs after the last one, in order. Positions of a queue have no gaps, unless runs were deleted."""
        owner, thread_id = self._thread.owner, self._thread.id
        await self._engine.views.thread(owner, thread_id)
        page = list(await self._engine.views.runs(owner, None, PAGE, thread_id=thread_id))
        if self._last is None:
            self._last = _start(await _with_open_runs(self._engine, page, owner, thread_id))
        found = _after(page, self._last)
        if len(page) == PAGE and (not found or found[0].pos != self._last + 1):
            highest = max(run.pos for run in page)
            if highest > self._last:
                found = _after(await self._engine.views.thread_runs(self._thread), self._last)
        return found

    def leave(self) -> None:
        """Stop waiting, because the client disconnected."""
        self._is_gone = True
        self._wakeup.set()
        if self._log is not None:
            self._log.leave()

    def close(self) -> None:
        self._end_run()
        self._engine.streams.tail.threads.unsubscribe(self._thread.id, self._wakeup.set)


def _after(runs: Sequence[Run], last: int) -> list[Run]:
    return sorted((run for run in runs if run.pos > last), key=lambda run: run.pos)


def _start(newest: Sequence[Run]) -> int:
    """Return the position before the runs that a stream begins with: the newest ones, and all that have not ended."""
    runs = sorted(newest, key=lambda run: run.pos)
    shown = [*runs[-REPLAYED:], *(run for run in runs if not run.status.is_terminal)]
    return min((run.pos for run in shown), default=0) - 1


class ThreadEventStream(LiveStream):
    """The stream of a thread. A heartbeat has no empty line: the client for Node would make an event of it."""

    ping = b": ping\n"

    def __init__(self, context: Context, thread: Thread, wanted: StreamRequest) -> None:
        super().__init__(lambda: ThreadFollower(context.engine, thread, wanted), bytes, context.heartbeat)
