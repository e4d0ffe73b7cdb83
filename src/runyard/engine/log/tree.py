"""Follows a run and its children as one stream, with a cursor that resumes exactly.

A child's events come between the `wait.requested` and the `wait.answered` of its parent. Events of children that run
side by side come in the order in which they are read, so a cursor has a position for every open child. A child whose
answer was sent is complete and needs no position.

A cursor is text: the seq of the followed run, then `path:seq` for open children. A path is the number of a child among
the children of its parent, from 1, after the path of the parent: `17,1:40,2:12,2.1:3`.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

from runyard.domain.events import TERMINAL, Event, WaitAnswered, WaitRequested
from runyard.domain.runs.run import Run
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.log.stream import Follower, Pause, Streams
from runyard.errors import BadRequest, NotFound
from runyard.store import RunStore

TreeItem = tuple[Event, str]
"""An event and the cursor after it."""

WAITING_CHUNKS = 4  # chunks that one node may read ahead
NOT_QUEUED_SECONDS = 0.05  # between looks for a child that is not queued yet
_CURSOR = re.compile(r"\d{1,16}(,\d{1,6}(\.\d{1,6}){0,15}:\d{1,16}){0,1000}", re.ASCII)


def parsed_cursor(text: str | None) -> dict[str, int]:
    """Return the positions of a cursor by path; the followed run has the path ''. Raises BadRequest."""
    if not text:
        return {"": 0}
    if not _CURSOR.fullmatch(text):
        raise BadRequest("The cursor is not valid. Send the id of an event of this stream, as it was received.")
    root, *children = text.split(",")
    return {"": int(root), **{path: int(seq) for path, _, seq in (child.partition(":") for child in children)}}


class _Node:
    """One run of the tree. `children` are its open children by the ids of their waits."""

    def __init__(self, run_id: str, path: str, seq: int, parent: "_Node | None") -> None:
        self.run_id = run_id
        self.path = path
        self.seq = seq
        self.parent = parent
        self.born = 0
        self.ended = False
        self.has_read = False
        self.children: dict[str, _Node] = {}
        self.read: deque[Event] = deque()
        self.task: asyncio.Task[None] | None = None

    def next_path(self) -> str:
        self.born += 1
        return f"{self.path}.{self.born}" if self.path else str(self.born)

    def is_held(self, event: Event) -> bool:
        """Whether events of children must be sent before this one."""
        if event.type == "wait.answered":
            answer = event.payload
            child = self.children.get(answer.wait_id) if isinstance(answer, WaitAnswered) else None
            return child is not None and not child.ended
        return event.type == TERMINAL and any(not child.ended for child in self.children.values())

    def nodes(self) -> Iterator["_Node"]:
        yield self
        for child in self.children.values():
            yield from child.nodes()


class TreeFollower:
    """A cursor over the logs of a run and its children. Made by `Trees.follow`."""

    def __init__(self, streams: Streams, root: _Node) -> None:
        self._streams = streams
        self._root = root
        self._ready: asyncio.Queue[tuple[_Node, list[Event]] | Pause] = asyncio.Queue(WAITING_CHUNKS)
        self._is_over: Pause | None = None
        for node in root.nodes():
            self._start(node)

    async def next(self, patience: float) -> list[TreeItem] | Pause:
        """Return the next events with their cursors, or why there are none. Wait at most `patience` seconds."""
        loop = asyncio.get_running_loop()
        until = loop.time() + patience
        while self._is_over is None:
            try:
                async with asyncio.timeout_at(until):
                    found = await self._ready.get()
            except TimeoutError:
                return Pause.IDLE
            if isinstance(found, Pause):
                self._is_over = found
                break
            node, events = found
            node.read.extend(events)
            if items := list(self._sent(node)):
                return items
        return self._is_over

    def _sent(self, node: _Node) -> Iterator[TreeItem]:
        """Yield the events of a node that can be sent now, and those of its parents that waited for them."""
        while node.read and not node.is_held(node.read[0]):
            event = node.read.popleft()
            node.seq = event.seq
            match event.payload if event.type in ("wait.requested", "wait.answered") else None:
                case WaitRequested(wait_id=wait_id, child=str() as child):
                    node.children[wait_id] = _Node(child, node.next_path(), 0, node)
                    self._start(node.children[wait_id])
                case WaitAnswered(wait_id=wait_id) if wait_id in node.children:
                    self._stop(node.children.pop(wait_id))
                case _:
                    pass
            yield event, self._cursor()
            if event.type == TERMINAL:
                yield from self._end(node)

    def _end(self, node: _Node) -> Iterator[TreeItem]:
        node.ended = True
        if node.parent is None:
            self._is_over = Pause.END
        else:
            yield from self._sent(node.parent)

    def _cursor(self) -> str:
        places = [f"{node.path}:{node.seq}" for node in self._root.nodes() if node.parent is not None and node.seq]
        return ",".join([str(self._root.seq), *places])

    # --- reading

    def _start(self, node: _Node) -> None:
        node.task = asyncio.create_task(self._read(node), name=f"tree of {self._root.run_id}")

    async def _read(self, node: _Node) -> None:
        """Read the log of a node into the queue until it ends."""
        while True:
            follower = self._streams.follow(node.run_id, node.seq)
            try:
                pause = await self._read_to_pause(node, follower)
            finally:
                follower.close()
            if pause is Pause.CUT and not self._streams.is_cut and node.parent is not None:
                await asyncio.sleep(NOT_QUEUED_SECONDS)  # its wait is durable, and it is not queued yet
                continue
            if pause is not Pause.END or (node.parent is None and not node.has_read):
                await self._ready.put(pause)
            elif node.parent is not None and not node.has_read:
                node.ended = True  # the cursor was already at its end
                await self._ready.put((node.parent, []))
            return

    async def _read_to_pause(self, node: _Node, follower: Follower) -> Pause:
        while True:
            found = await follower.next(3600.0)
            if isinstance(found, Pause):
                if found is not Pause.IDLE:
                    return found
                continue
            node.has_read = True
            await self._ready.put((node, [event for chunk in found for event in chunk.events]))

    def _stop(self, node: _Node) -> None:
        for each in node.nodes():
            if each.task is not None:
                each.task.cancel()

    def leave(self) -> None:
        """Stop waiting, because the client disconnected."""
        self._is_over = Pause.GONE
        with suppress(asyncio.QueueFull):
            self._ready.put_nowait(Pause.GONE)

    def close(self) -> None:
        self._stop(self._root)


class Trees:
    """Opens followers of trees."""

    def __init__(self, streams: Streams, store: RunStore, snapshots: Snapshots) -> None:
        self._streams = streams
        self._store = store
        self._snapshots = snapshots

    async def follow(self, run: Run, positions: dict[str, int]) -> Callable[[], TreeFollower]:
        """Return what opens a follower of the events after these positions."""
        root = _Node(run.id, "", min(positions[""], run.last_seq), None)
        await self._add_children(root, run, positions)
        return lambda: TreeFollower(self._streams, root)

    async def _add_children(self, node: _Node, run: Run, positions: dict[str, int]) -> None:
        """Add the children whose answers come after the node's position."""
        if node.seq == 0:
            return
        state = await self._snapshots.state(run, min(node.seq, run.last_seq))
        for wait_id, wait in state.waits.items():
            if wait.child is None:
                continue
            path = node.next_path()
            if wait.answered_seq is not None:
                continue
            child = node.children[wait_id] = _Node(wait.child, path, positions.get(path, 0), node)
            with suppress(NotFound):
                await self._add_children(child, await self._store.get_run(run.owner, wait.child), positions)
