"""Tests that need a program which the machine does not have: reported as missing, in one place, with one command.

A fixture or a test that does not find a program raises `ProgramMissing`. For an ordinary user, who may not be able to
install it, such a test counts as skipped and the summary ends with a list of what is missing. In CI and for root it
fails. `scripts/setup/programs.py` decides which of the two holds and knows the command.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts.setup import node, programs

MARK = "MISSING: "


class ProgramMissing(Exception):
    """A program that the test needs is not on this machine. `program` is its name in `scripts/setup/programs.py`."""

    def __init__(self, message: str, program: str | None = None) -> None:
        super().__init__(message)
        self.program = program


@cache
def need(program: str) -> Path:
    """Return a program of `scripts/setup/programs.py`, or raise ProgramMissing."""
    found = programs.find(program)
    if found is None:
        raise ProgramMissing(f"No {program} was found; `make programs-for-tests` brings it.", program)
    return found


@cache
def need_node() -> Path:
    found = node.find()
    if found is None:
        raise ProgramMissing(f"No Node {node.OLDEST} was found; `make page` brings it.")
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, ProgramMissing) and not programs.is_strict():
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1] or 0, f"{MARK}{error.program or error}")
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say at the end, where it is read, what could not be tested."""
    reasons = Counter(reason for report in terminalreporter.stats.get("skipped", ()) if (reason := _reason(report)))
    if not reasons:
        return
    terminalreporter.section("MISSING PROGRAMS", sep="=", red=True, bold=True)
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count} tests did not run: {reason} is missing", red=True)
    if known := sorted(programs.PROGRAMS.keys() & reasons.keys()):
        terminalreporter.line(programs.message(known))


def _reason(report: Any) -> str | None:
    """The name of the missing program, if that is why the test was skipped."""
    if not isinstance(report.longrepr, tuple):
        return None
    said = str(report.longrepr[2])
    return said.removeprefix(MARK) if said.startswith(MARK) else None
