"""A thread that sees when the event loop stands still, says where, and gets it going again.

An agent that never awaits stops every run, every stream and the lease of its process. The thread asks the loop for a
sign of life four times a second. If none comes while one task is at work all the time, that task blocks the loop:

- after a second the log says where: `event_loop.blocked`;
- after `limit` seconds, or when a plan's node has used up its time, a signal makes the main thread raise `Interrupted`
  inside the agent's code. This ends Python loops, sleeps and socket calls. The run ends as `blocked_loop`;
- if that does not help (code in C that does not return, or an agent that catches everything), the process ends itself
  and the attempt counts: a run that does it again and again ends as `poison`.

Time is counted in looks that the thread really had, so a process that was frozen or starved blames no agent. A signal
handler raises only where the stack shows code of a user above a marked function (`agents/user_code/frames.py`), never
in Runyard itself; elsewhere the thread tries again. Functions that run in threads are not touched. Code in C that keeps
the interpreter's lock stops this thread too: a timer that counts the process's CPU time ends the process then.

A loop outside of the main thread is watched and reported, but cannot be interrupted.
"""

import asyncio
import faulthandler
import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType

import structlog

from runyard.agents.user_code.containment import Contained
from runyard.agents.user_code.frames import Interrupted, is_user_code, place_of
from runyard.errors import BlockedLoop

log = structlog.get_logger()

TICK = 0.25
SAY_AFTER = 1.0
AGAIN_AFTER = 1.0  # between two interruptions of the same agent: it may need a moment to clean up
LEASES = 3  # after so many the process ends, whatever blocks it: its runs went to others long ago
EXIT_CODE = 70
_NUMBER: int = getattr(signal, "SIGRTMIN", signal.SIGUSR2)


class Watchdog:
    """`limit`: seconds that code of a user may block the loop; None: never interrupt, only report. `may_exit`: this
    process is Runyard's own, and something starts it again."""

    def __init__(self, limit: float | None, lease: float, *, may_exit: bool) -> None:
        self._limit = limit
        self._lease = lease
        self._may_exit = may_exit and limit is not None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread_id = 0
        self._can_interrupt = False
        self._ended = threading.Event()
        self._asked = self._answered = 0
        self._stall = _Stall(None)
        self._aim: asyncio.Task[object] | None = None

    def start(self) -> None:
        """Watch the running loop."""
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()
        self._can_interrupt = threading.current_thread() is threading.main_thread() and _handle_signal()
        _watching.append(self)
        if self._may_exit:
            with suppress(OSError, ValueError, AttributeError):  # no real file: then it ends without a word
                faulthandler.register(signal.SIGVTALRM, chain=True)
        self._wind_up()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()
        if self in _watching:
            _watching.remove(self)

    # --- the thread

    def _watch(self) -> None:
        while not self._ended.wait(TICK):
            try:
                self._look()
            except RuntimeError:
                break  # the loop is closed
            self._wind_up()
        if self._may_exit:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _wind_up(self) -> None:
        """Unless this thread comes back within so many seconds of CPU time, the kernel ends the process."""
        if self._may_exit and self._limit is not None:
            signal.setitimer(signal.ITIMER_VIRTUAL, self._limit * 3)

    def _look(self) -> None:
        assert self._loop is not None
        if self._asked == self._answered:
            self._asked += 1
            self._stall = _Stall(None)
            self._loop.call_soon_threadsafe(self._answer, self._asked)
            return
        task = asyncio.current_task(self._loop)
        if task is not self._stall.task:
            self._stall = _Stall(task)
        self._stall.seconds += TICK
        self._act(self._stall, sys._current_frames().get(self._thread_id))

    def _answer(self, number: int) -> None:
        self._answered = number

    def _act(self, stall: "_Stall", frame: FrameType | None) -> None:
        assert self._loop is not None
        at_fault = stall.contained is not None and is_user_code(frame)
        if stall.seconds >= SAY_AFTER and not stall.is_said:
            stall.is_said = True
            log.warning("event_loop.blocked", seconds=stall.seconds, where=place_of(frame), **stall.names)
        if self._limit is None:
            return
        late = stall.is_late(self._loop.time())
        if at_fault and (late or stall.seconds >= self._limit):
            self._interrupt(stall, late and stall.seconds < self._limit, frame)
        hopeless = at_fault and stall.seconds >= self._limit * 2
        if self._may_exit and (hopeless or stall.seconds >= self._lease * LEASES):
            log.critical("process.aborted", seconds=stall.seconds, where=place_of(frame), **stall.names)
            os._exit(EXIT_CODE)

    def _interrupt(self, stall: "_Stall", for_time: bool, frame: FrameType | None) -> None:
        """`for_time`: the node's time is up; the run may end as that, and not as one that blocked the loop."""
        assert self._loop is not None
        assert stall.contained is not None
        if not self._can_interrupt or stall.seconds < stall.next_interruption:
            return
        stall.next_interruption = stall.seconds + AGAIN_AFTER
        log.error("agent.interrupted", seconds=stall.seconds, where=place_of(frame), **stall.names)
        if not for_time:
            self._loop.call_soon_threadsafe(stall.contained.execution.fail, BlockedLoop(stall.seconds))
        self._aim = stall.task
        signal.pthread_kill(self._thread_id, _NUMBER)

    # --- the main thread

    def handle(self, frame: FrameType | None) -> None:
        """Raise Interrupted if this is still the task that blocks the loop, in code of a user."""
        aim, self._aim = self._aim, None
        if aim is None or self._loop is None or self._asked == self._answered:
            return
        if asyncio.current_task(self._loop) is aim and is_user_code(frame):
            raise Interrupted


class _Stall:
    """How long the loop has been standing still in this task."""

    def __init__(self, task: "asyncio.Task[object] | None") -> None:
        self.task = task
        coroutine = None if task is None else task.get_coro()
        self.contained = coroutine if isinstance(coroutine, Contained) else None
        self.seconds = 0.0
        self.is_said = False
        self.next_interruption = 0.0

    def is_late(self, now: float) -> bool:
        deadline = None if self.contained is None else self.contained.deadline
        return deadline is not None and now >= deadline and self.seconds >= TICK * 2

    @property
    def names(self) -> dict[str, str]:
        if self.contained is None:
            return {}
        run = self.contained.execution.run
        return {"agent": run.agent, "run_id": run.id}


_watching: list[Watchdog] = []


def _on_signal(_: int, frame: FrameType | None) -> None:
    for watchdog in list(_watching):
        watchdog.handle(frame)


def _handle_signal() -> bool:
    """Whether the signal is ours. It stays so: a late one must not end the process."""
    if signal.getsignal(_NUMBER) not in (signal.SIG_DFL, _on_signal):
        return False
    signal.signal(_NUMBER, _on_signal)
    return True
