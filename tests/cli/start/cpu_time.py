"""The CPU time of a command, which does not depend on what else the machine does."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cli.cli_process import environment

# The goals hold for a machine on which this takes `REFERENCE_SECONDS` of CPU time. A slower machine may take longer by
# the same factor.
REFERENCE = [sys.executable, "-I", "-c", "import asyncio, inspect, sqlite3, ssl"]
REFERENCE_SECONDS = 0.05


def without_coverage() -> dict[str, str]:
    return {name: value for name, value in environment().items() if not name.startswith("COV")}


def cpu_seconds(command: Sequence[str | Path], folder: Path, variables: dict[str, str]) -> float:
    """Return the user and system time of a command: the least of five runs."""
    took = []
    for _ in range(5):
        process = subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        took.append(used.ru_utime + used.ru_stime)
    return min(took)


def allowed_seconds(goal: float, folder: Path) -> float:
    """Return the goal, or more on a slower machine."""
    return goal * max(1.0, cpu_seconds(REFERENCE, folder, without_coverage()) / REFERENCE_SECONDS)
