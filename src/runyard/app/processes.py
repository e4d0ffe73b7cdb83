"""Several server processes behind one socket: `runyard serve --processes N`, on Postgres.

The parent opens the sockets, forks the children and restarts them. It runs no event loop, loads no app and answers no
request. All children accept from the same socket, so a child that ends refuses no connection. On SIGHUP every child is
replaced: a new one starts and loads the app again; when it serves, the old one drains. Its short runs end, the others
go back into the queue, and its clients reconnect. On SIGTERM or SIGINT all children drain; a second signal skips the
wait.
"""

import os
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from runyard.telemetry.logger import get_logger

log = get_logger()

RESTART_SECONDS = 1.0  # before a child that died is replaced
TICK = 0.5
Serve = Callable[[socket.socket, socket.socket | None, Callable[[], None]], None]
"""Serve on the socket, with metrics on the other one, and call the function when requests are answered."""


class _Child(NamedTuple):
    place: int
    pid: int
    ready: int  # the end of a pipe: a byte when it serves, its end when it has ended


class Processes:
    """The parent. `serve` runs in each child until a signal."""

    def __init__(self, listener: socket.socket, metrics: list[socket.socket], count: int, serve: Serve) -> None:
        self._listener = listener
        self._metrics = metrics
        self._count = count
        self._serve = serve
        self._children: dict[int, _Child] = {}  # by pid
        self._serving: set[int] = set()
        self._leaving: set[int] = set()  # pids of children that must stop
        self._missing: list[tuple[float, int]] = []  # when to start a child again, and in which place
        self._stops = 0
        self._reload = False
        self._code = 0

    def run(self) -> int:
        """Serve until a signal. Return the exit code: that of a child that could not start, else 0."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGHUP, self._restart)
        self._life = os.pipe()  # only the parent holds the second end, so the first end closes when the parent ends
        with selectors.DefaultSelector() as self._selector:
            for place in range(self._count):
                self._start(place)
            for pid in list(self._children):
                if not self._wait_until_serving(pid):
                    self._stop()
                    break
            while self._children or (self._missing and not self._stops):
                self._handle_children(TICK)
                self._start_missing()
                if self._reload and not self._stops:
                    self._reload = False
                    self._replace_all()
        return self._code

    # --- signals

    def _stop(self, *_: object) -> None:
        self._stops += 1
        for pid in list(self._children):
            self._tell_to_stop(pid)

    def _restart(self, *_: object) -> None:
        self._reload = True

    def _tell_to_stop(self, pid: int) -> None:
        self._leaving.add(pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)

    # --- children

    def _start(self, place: int) -> int:
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(ours)
            self._be_child(place, theirs)
        os.close(theirs)
        self._children[pid] = _Child(place, pid, ours)
        self._selector.register(ours, selectors.EVENT_READ, pid)
        if self._stops:  # the signal came between the fork and this line
            self._tell_to_stop(pid)
        return pid

    def _be_child(self, place: int, report: int) -> None:
        """Serve, and exit without returning to the parent's code."""
        code = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            self._selector.close()
            os.close(self._life[1])
            threading.Thread(target=_stop_after_parent, args=(self._life[0],), daemon=True).start()
            for child in self._children.values():
                os.close(child.ready)
            metrics = self._metrics[place] if self._metrics else None
            self._serve(self._listener, metrics, lambda: _write(report))
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except Exception:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)

    def _handle_children(self, seconds: float) -> None:
        """Wait until a child serves or ends, and handle that."""
        for key, _ in self._selector.select(seconds):
            if os.read(key.fd, 1):
                self._serving.add(key.data)
            else:
                self._remove_ended(self._children[key.data])

    def _remove_ended(self, child: _Child) -> None:
        """Remove a child that has ended. Start another one in its place, unless it had to stop."""
        self._selector.unregister(child.ready)
        os.close(child.ready)
        code = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
        del self._children[child.pid]
        was_serving = child.pid in self._serving
        self._serving.discard(child.pid)
        if child.pid in self._leaving:
            self._leaving.discard(child.pid)
        elif was_serving:
            log.error("process.child_ended", pid=child.pid, code=code)
            self._missing.append((time.monotonic() + RESTART_SECONDS, child.place))
        else:
            log.error("process.child_ended", pid=child.pid, code=code)
            self._code = code or 1

    def _start_missing(self) -> None:
        """Start a child in the place of each that died a moment ago."""
        while self._missing and self._missing[0][0] <= time.monotonic() and not self._stops:
            self._start(self._missing.pop(0)[1])

    def _wait_until_serving(self, pid: int) -> bool:
        """Return whether the child serves; False if it ended first, or the parent must stop."""
        while pid in self._children and pid not in self._serving and not self._stops:
            self._handle_children(TICK)
        return pid in self._serving

    def _replace_all(self) -> None:
        """Replace one child after the other. If a new one cannot start, the old ones stay."""
        log.info("process.restart_started", processes=len(self._children))
        for old in list(self._children.values()):
            if not self._wait_until_serving(self._start(old.place)):
                if not self._stops:
                    log.error("process.restart_failed", code=self._code)
                    self._code = 0
                return
            self._tell_to_stop(old.pid)
            while old.pid in self._children:
                self._handle_children(TICK)
        log.info("process.restart_finished", processes=len(self._children))


def _stop_after_parent(life: int) -> None:
    """Stop this child when the parent has died."""
    os.read(life, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _write(report: int) -> None:
    with suppress(OSError):  # the parent is gone
        os.write(report, b".")
