"""The sandbox: run one Python program in bubblewrap, with only an interpreter and a copy of a folder.

The program has no network, no host files, no environment and its own user. `run` enforces its limits, streams its
output, and returns when none of its processes is left: after it ended, was stopped or was cancelled. If the isolation
does not hold on this machine (`unavailable_reason` tests it once), `run` raises NoSandbox.

The limits of time, output, processes, file size, folder size and memory of one process are exact. Memory of all
processes together and the number of files are checked ten times a second, so they can be exceeded for a moment.
"""

import asyncio
import codecs
import os
import shutil
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Literal

import msgspec

from runyard.agents.sandbox import seccomp, self_test
from runyard.agents.sandbox.bubblewrap import PREPARED, PYTHON, Descriptors, Limits, command
from runyard.agents.sandbox.processes import ProcessTree
from runyard.agents.sandbox.received_files import ReceivedFiles
from runyard.agents.sandbox.staging import Stage, remove_stale
from runyard.agents.sandbox.user_ids import SandboxUser
from runyard.agents.user_code.run_in_thread import run_in_thread
from runyard.errors import NoSandbox
from runyard.telemetry.logger import get_logger

log = get_logger()

_LOOK_SECONDS = 0.1
_CHUNK_SECONDS = 0.05  # output within this time becomes one event
_CHUNK_BYTES = 65536
_END_SECONDS = 10

_SILENT_SECONDS = 10.0  # without a heartbeat, the program has stopped or killed its supervisor

Stopped = Literal["time", "memory", "disk", "output", "watch"]
OnOutput = Callable[[str], Awaitable[object]]


class ProgramEnd(msgspec.Struct, frozen=True):
    """The end of a program: its exit code, or why it was stopped, and its output."""

    code: int | None
    stopped: Stopped | None
    output: str


async def _discard(text: str) -> None:
    """Ignore the output of a program."""


class Sandbox:
    """Runs programs, at most `places` at a time; others wait."""

    def __init__(self, limits: Limits | None = None, *, bwrap: str = "bwrap", places: int | None = None) -> None:
        self.limits = limits or Limits()
        self._bwrap = bwrap
        self._places = asyncio.Semaphore(places or os.cpu_count() or 1)
        self._verdict: str | None = None
        self._tried = False

    async def unavailable_reason(self) -> str | None:
        """Return None if the sandbox works on this machine, otherwise the reason. Tested once, by a program that tries
        to get out."""
        if not self._tried:
            await run_in_thread(remove_stale)
            self._verdict = await self._try_out()
            self._tried = True
            log.info("sandbox.checked", works=self._verdict is None)
        return self._verdict

    async def run(self, program: str, workspace: Path | None = None, on_output: OnOutput = _discard) -> ProgramEnd:
        """Run a Python program with a copy of `workspace` as its folder. Its changes are kept if it ends by itself."""
        reason = await self.unavailable_reason()
        if reason is not None:
            raise NoSandbox(f"This machine has no working sandbox, so no code is run: {reason}.")
        async with self._places:
            return await self._run(program, workspace, on_output)

    async def _try_out(self) -> str | None:
        missing = _missing(self._bwrap)
        if missing is not None:
            return missing
        try:
            return await self_test.try_to_escape(lambda program: self._run(program, None, _discard))
        except (NoSandbox, OSError) as error:
            return error.message if isinstance(error, NoSandbox) else f"it cannot be started ({type(error).__name__})"

    async def _run(self, program: str, workspace: Path | None, on_output: OnOutput) -> ProgramEnd:
        run = await _Run.make(program, workspace, self.limits)
        try:
            return await run.to_its_end(self._bwrap, on_output)
        finally:
            await asyncio.shield(run.close())  # it finishes even if we are cancelled again


class _Run:
    """One program from start to end, with the resources that must be released."""

    def __init__(self, program: str, workspace: Path | None, limits: Limits) -> None:
        self._user = SandboxUser()
        self._uid = self._user.take()
        self._processes: ProcessTree | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._ended: ProgramEnd | None = None
        self._limits = limits
        try:
            self._stage = Stage(program, workspace, self._uid)
            self._received = ReceivedFiles(self._stage.out, limits)
        except BaseException:
            self._user.release()
            raise

    @staticmethod
    async def make(program: str, workspace: Path | None, limits: Limits) -> "_Run":
        making = asyncio.ensure_future(run_in_thread(_Run, program, workspace, limits))
        try:
            run: _Run = await asyncio.shield(making)
        except asyncio.CancelledError:
            making.add_done_callback(lambda made: made.exception() or made.result().end())
            raise
        return run

    async def to_its_end(self, bwrap: str, on_output: OnOutput) -> ProgramEnd:
        """Run the program until it ends or must be stopped. `end` stops it."""
        printed = _Printed(self._limits.output_bytes)
        stopped: Stopped | None = None
        try:
            async with asyncio.timeout(self._limits.seconds):
                process = await self._start(bwrap)
                stopped = await self._until_it_ends(process, printed.read(process, on_output))
        except TimeoutError:
            stopped = "time"
        if not stopped:
            await run_in_thread(self._received.wait, _END_SECONDS)
            stopped = self._passed()
        self._ended = ProgramEnd(None if stopped else process.returncode, stopped, printed.text)
        return self._ended

    async def _until_it_ends(
        self, process: asyncio.subprocess.Process, read: Coroutine[None, None, bool]
    ) -> Stopped | None:
        """Return None when the program has ended by itself and its output is read, otherwise why to stop it."""
        watching, reading = asyncio.create_task(self._watch()), asyncio.create_task(read)
        waiting = asyncio.create_task(process.wait())
        try:
            await asyncio.wait({watching, reading}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and reading.result():
                return "output"
            await asyncio.wait({watching, waiting}, return_when=asyncio.FIRST_COMPLETED)
            return watching.result() if watching.done() else None
        finally:
            for task in (watching, reading, waiting):
                task.cancel()
            await asyncio.gather(watching, reading, waiting, return_exceptions=True)

    async def _start(self, bwrap: str) -> asyncio.subprocess.Process:
        info, info_end = os.pipe()
        rules, filled = os.pipe()
        news, channel = os.pipe()
        try:
            os.write(filled, seccomp.program())
            os.close(filled)
            given = Descriptors(info_end, rules, channel)
            found = shutil.which(bwrap) or bwrap
            words = command(found, self._stage.folder, self._limits, self._uid, given, self._stage.keeps)
            process = self._process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                cwd="/",
                env={"PATH": "/usr/bin:/bin"},  # of bubblewrap itself; the program can read it
                pass_fds=(info_end, rules, channel),
                start_new_session=True,
            )
        except BaseException:
            os.close(info)
            os.close(news)
            raise
        finally:
            os.close(info_end)
            os.close(rules)
            os.close(channel)
        self._received.begin()
        Thread(target=self._received.read, args=(news,), name="sandbox channel", daemon=True).start()
        first = await run_in_thread(_first_process, info)
        if first is None:
            raise NoSandbox("bubblewrap could not start it; check that user namespaces are allowed")
        with suppress(ProcessLookupError):  # already ended
            self._processes = ProcessTree(first)
        return process

    async def _watch(self) -> Stopped:
        """Return when the program exceeds a limit that the kernel does not enforce."""
        while True:
            if self._processes is not None and await run_in_thread(self._processes.memory) > self._limits.memory_bytes:
                return "memory"
            if self._received.is_over:
                return "disk"
            if self._received.silence > _SILENT_SECONDS:
                return "watch"
            await asyncio.sleep(_LOOK_SECONDS)

    def _passed(self) -> Stopped | None:
        """Return why the program counts as stopped after it ended, or None if all its files arrived."""
        if self._received.is_over:
            return "disk"
        return None if self._received.is_complete else "watch"

    async def close(self) -> None:
        await run_in_thread(self.end)
        if self._process is not None and self._process.stdout is not None:
            while await self._process.stdout.read(_CHUNK_BYTES):
                pass  # drain it, so that the pipe is closed
            await self._process.wait()

    def end(self) -> None:
        """Kill the processes that are left, keep the files if the program ended by itself, and release everything."""
        try:
            if self._process is not None and self._process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, 9)
            gone = self._processes is None or self._processes.end(_END_SECONDS)
            if not gone:
                log.error("sandbox.kill_failed")
            elif self._ended is not None and self._ended.stopped is None and self._received.wait(_END_SECONDS):
                self._stage.keep()
        finally:
            self._stage.remove()
            self._user.release()


class _Printed:
    """The output of a program so far, up to a limit."""

    def __init__(self, most: int) -> None:
        self.text = ""
        self._left = most

    async def read(self, process: asyncio.subprocess.Process, on_output: OnOutput) -> bool:
        """Read the output to its end. Return whether it exceeded the limit."""
        assert process.stdout is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := await process.stdout.read(_CHUNK_BYTES):
            kept = decoder.decode(data[: self._left])
            self._left -= len(data)
            self.text += kept
            await on_output(kept)
            if self._left < 0:
                return True
            await asyncio.sleep(_CHUNK_SECONDS)
        return False


def _missing(bwrap: str) -> str | None:
    if not shutil.which(bwrap):
        return "bubblewrap is not installed (Debian, Ubuntu: apt install bubblewrap)"
    lacking = [name for name in (PYTHON, *PREPARED) if not Path(name).exists()]
    return f"{lacking[0]} is missing" if lacking else None


def _first_process(info: int) -> int | None:
    """Return the pid of the namespace's first process from bubblewrap's info; None if it started none."""
    with open(info, "rb") as pipe:
        try:
            return int(msgspec.json.decode(pipe.read())["child-pid"])
        except (msgspec.DecodeError, KeyError):
            return None
