"""A command in a separate terminal: typed into, and read as a person would read it."""

import codecs
import os
import pty
import re
import select
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.cli.cli_process import RUNYARD, environment
from tests.support.eventually import PATIENCE

_STYLE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
# What may go on in the next piece that is read: the beginning of a style, or of a line's end.
_UNFINISHED = re.compile(r"(\x1b(\[[0-9;?]*)?|\r)\Z")


class Terminal:
    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid = pid
        self._descriptor = descriptor
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unfinished = ""
        self._shown = ""
        self._read = 0

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def until(self, text: str) -> str:
        """Wait until `text` is shown, past what was waited for before; everything shown since then."""
        end = time.monotonic() + PATIENCE
        while (at := self._shown.find(text, self._read)) < 0:
            assert time.monotonic() < end, f"{text!r} is not in {self._shown[self._read :]!r}"
            assert self._more(), f"it ended, and {text!r} is not in {self._shown[self._read :]!r}"
        begin, self._read = self._read, at + len(text)
        return self._shown[begin : self._read]

    def press(self, key: str, text: str) -> str:
        """Press a key until something is shown, then wait for `text`. A signal that comes just before readline looks is
        only noticed at the next key; a person presses again."""
        for _ in range(int(PATIENCE)):
            self.type(key)
            if select.select([self._descriptor], [], [], 1.0)[0]:
                return self.until(text)
        raise AssertionError(f"{key!r} does nothing")

    def ended(self) -> int:
        """Wait for its end; the exit code."""
        while self._more():
            pass
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = 0
        return code

    def _more(self) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], PATIENCE)
        assert ready, f"nothing happens after {self._shown[self._read :]!r}"
        try:
            found = os.read(self._descriptor, 65536)
        except OSError:  # how Linux says that the other side is closed
            return False
        text = self._unfinished + self._decoder.decode(found)
        unfinished = _UNFINISHED.search(text)
        complete = text[: unfinished.start()] if unfinished else text
        self._unfinished = text[len(complete) :]
        self._shown += _STYLE.sub("", complete).replace("\r\n", "\n")
        return bool(found)


@contextmanager
def terminal(folder: Path, *arguments: str, env: Mapping[str, str]) -> Iterator[Terminal]:
    """`runyard` in a terminal."""
    with program_in_terminal(folder, RUNYARD, *arguments, env=environment(**env, TERM="dumb")) as shown:
        yield shown


@contextmanager
def program_in_terminal(folder: Path, program: Path, *arguments: str, env: Mapping[str, str]) -> Iterator[Terminal]:
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell that runs the tests in the background ignores it
        os.execve(program, [program.name, *arguments], dict(env))
    shown = Terminal(pid, descriptor)
    try:
        yield shown
    finally:
        os.close(descriptor)
        if shown.pid:
            os.kill(shown.pid, 9)
            os.waitpid(shown.pid, 0)
