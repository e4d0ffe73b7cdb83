"""The `runyard` command as a user starts it: a separate process, in a separate folder, with a clean environment."""

import io
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path
from tempfile import TemporaryFile
from unittest.mock import patch

from runyard.cli import run
from tests.cli.forked_commands import SCRIPT, start
from tests.support.eventually import PATIENCE

RUNYARD = SCRIPT


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("RUNYARD_")}
    return {**kept, **variables}


def runyard(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, typed: str | None = None
) -> "subprocess.CompletedProcess[str]":
    with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
        stdin.write((typed or "").encode())
        stdin.seek(0)
        files = stdin.fileno(), stdout.fileno(), stderr.fileno()
        command = start(arguments, folder, environment(**(env or {})), *files)
        try:
            code = command.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            command.send_signal(signal.SIGKILL)
            raise
        finally:
            command.close()
        for file in (stdout, stderr):
            file.seek(0)
        return subprocess.CompletedProcess(arguments, code, stdout.read().decode(), stderr.read().decode())


def runyard_here(folder: Path, *arguments: str, env: Mapping[str, str]) -> str:
    """Run a command in this process, which takes a tenth of the time; what it printed. For servers only: a command on
    the database itself configures the log of its process."""
    printed = io.StringIO()
    with chdir(folder), patch.dict(os.environ, environment(**env), clear=True), redirect_stdout(printed):
        assert run(list(arguments)) == 0
    return printed.getvalue()


@contextmanager
def serving(
    folder: Path,
    *arguments: str,
    port: int = 0,
    end: signal.Signals = signal.SIGTERM,
    errors: Path = Path(os.devnull),
    env: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """`runyard dev`, by default on a free port; gives its address. Its stderr goes into the file `errors`."""
    words = ["dev", *arguments, "--port", str(port)]
    reader, writer = os.pipe()
    with errors.open("wb") as stderr, open(os.devnull, "rb") as stdin:
        variables = environment(RUNYARD_DRAIN_SECONDS="0.1", **(env or {}))
        process = start(words, folder, variables, stdin.fileno(), writer, stderr.fileno())
    os.close(writer)
    stdout = os.fdopen(reader)
    try:
        for line in stdout:
            if ready := re.search(r"is ready at (http://\S+)", line):
                yield ready[1]
                break
        else:
            raise AssertionError(f"runyard dev ended with {process.wait(PATIENCE)} and no banner")
    finally:
        process.send_signal(end)
        assert process.wait(PATIENCE) == (0 if end == signal.SIGTERM else -end)
        process.close()
        stdout.close()


def following(folder: Path, url: str, run_id: str) -> "subprocess.Popen[bytes]":
    """`runyard runs follow`, as it continues: what has been read of it cannot be lost in a buffer."""
    return subprocess.Popen(
        [RUNYARD, "runs", "follow", run_id],
        cwd=folder,
        env=environment(RUNYARD_URL=url),
        bufsize=0,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
