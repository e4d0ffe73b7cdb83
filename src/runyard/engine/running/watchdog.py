"""A thread that detects a blocked event loop, reports where it is blocked, and interrupts the agent at fault.

An agent that never awaits stops every run, every stream and the lease of its process. The thread pings the loop four
times a second. If the loop does not answer while the same task runs all the time, that task blocks it:

- after a second a log line says where;
- after `limit` seconds, or when a plan's node has used up its time, a signal makes the main thread raise `Interrupted`
  inside the agent's code. This ends Python loops, sleeps and socket calls. The run ends as `blocked_loop`;
- if that does not help (code in C that does not return, or an agent that catches everything), the process ends itself
  and the attempt counts: a run that does it repeatedly ends as `poison`.

Time is counted in checks that the thread really made, so an agent is not blamed for a process that was frozen or
starved. The signal handler raises only where the stack shows user code above a marked function
(`agents/user_code/frames.py`), never in Runyard's own code; otherwise the thread tries again. Functions in threads are
not interrupted. Code in C that holds the interpreter lock stops this thread too: then a timer of the process's CPU
time ends the process. A loop outside of the main thread is watched and reported, but not interrupted.
"""

import asyncio
import faulthandler
import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType

from runyard.agents.user_code.containment import Contained
from runyard.agents.user_code.frames import Interrupted, is_user_code, place_of
from runyard.errors import BlockedLoop
from runyard.telemetry.logger import get_logger

log = get_logger()

TICK = 0.25
REPORT_AFTER = 1.0
AGAIN_AFTER = 1.0  # between two interruptions of the same agent, which may need time to clean up
LEASES = 3  # lease times after which the process ends, whatever blocks it: other workers have its runs by then
EXIT_CODE = 70
_NUMBER: int = getattr(signal, "SIGRTMIN", signal.SIGUSR2)


class Watchdog:
    """`limit`: seconds that user code may block the loop; None: never interrupt, only report. `may_exit`: the process
    belongs to Runyard and is restarted when it ends."""

    def __init__(self, limit: float | None, lease: float, *, may_exit: bool) -> None:
        self._limit = limit
        self._lease = lease
        self._may_exit = may_exit and limit is not None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread_id = 0
        self._can_interrupt = False
        self._ended = threading.Event()
        self._pings_sent = self._pings_answered = 0
        self._stall = _Stall(None)
        self._target: asyncio.Task[object] | None = None

    def start(self) -> None:
        """Watch the running loop."""
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()
        self._can_interrupt = threading.current_thread() is threading.main_thread() and _handle_signal()
        _watching.append(self)
        if self._may_exit:
            with suppress(OSError, ValueError, AttributeError):  # stderr is not a file: it ends without a traceback
                faulthandler.register(signal.SIGVTALRM, chain=True)
        self._set_cpu_timer()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()
        if self in _watching:
            _watching.remove(self)

    # --- the thread

    def _watch(self) -> None:
        while not self._ended.wait(TICK):
            try:
                self._check_loop()
            except RuntimeError:
                break  # the loop is closed
            self._set_cpu_timer()
        if self._may_exit:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _set_cpu_timer(self) -> None:
        """Set the CPU timer: if this thread does not set it again in time, the kernel ends the process."""
        if self._may_exit and self._limit is not None:
            signal.setitimer(signal.ITIMER_VIRTUAL, self._limit * 3)

    def _check_loop(self) -> None:
        assert self._loop is not None
        if self._pings_sent == self._pings_answered:
            self._pings_sent += 1
            self._stall = _Stall(None)
            self._loop.call_soon_threadsafe(self._answer, self._pings_sent)
            return
        task = asyncio.current_task(self._loop)
        if task is not self._stall.task:
            self._stall = _Stall(task)
        self._stall.seconds += TICK
        self._act(self._stall, sys._current_frames().get(self._thread_id))

    def _answer(self, number: int) -> None:
        self._pings_answered = number

    def _act(self, stall: "_Stall", frame: FrameType | None) -> None:
        assert self._loop is not None
        at_fault = stall.contained is not None and is_user_code(frame)
        if stall.seconds >= REPORT_AFTER and not stall.is_reported:
            stall.is_reported = True
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
        """Interrupt the agent. `for_time`: its plan node has used up its time, so the run need not end as blocked."""
        assert self._loop is not None
        assert stall.contained is not None
        if not self._can_interrupt or stall.seconds < stall.next_interruption:
            return
        stall.next_interruption = stall.seconds + AGAIN_AFTER
        log.error("agent.interrupted", seconds=stall.seconds, where=place_of(frame), **stall.names)
        if not for_time:
            self._loop.call_soon_threadsafe(stall.contained.execution.fail, BlockedLoop(stall.seconds))
        self._target = stall.task
        signal.pthread_kill(self._thread_id, _NUMBER)

    # --- the main thread

    def handle(self, frame: FrameType | None) -> None:
        """Raise Interrupted if the same task still blocks the loop, in user code."""
        target, self._target = self._target, None
        if target is None or self._loop is None or self._pings_sent == self._pings_answered:
            return
        if asyncio.current_task(self._loop) is target and is_user_code(frame):
            raise Interrupted


class _Stall:
    """How long this task has blocked the loop."""

    def __init__(self, task: "asyncio.Task[object] | None") -> None:
        self.task = task
        coroutine = None if task is None else task.get_coro()
        self.contained = coroutine if isinstance(coroutine, Contained) else None
        self.seconds = 0.0
        self.is_reported = False
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
    """Install the handler; False if the signal has another one. It stays installed: a late signal must not end the
    process."""
    if signal.getsignal(_NUMBER) not in (signal.SIG_DFL, _on_signal):
        return False
    signal.signal(_NUMBER, _on_signal)
    return True
