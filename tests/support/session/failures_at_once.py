"""Prints a failed test when it fails, not only in the summary: a whole run takes long."""

from __future__ import annotations

import pytest

NAME = "failures-at-once"
LENGTH = 160  # characters of the error that are shown


class FailuresAtOnce:
    """A plugin of the process that reports. The summary at the end has the whole error."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write("\n")
            terminal.write_line(f"{report.when} failed: {report.nodeid}: {_reason(report)}")


def show_failures_at_once(config: pytest.Config) -> None:
    """Register the plugin, except in a worker of xdist, which reports nothing."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(config), NAME)


def _reason(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join(str(crash.message if crash is not None else report.longrepr).split())[:LENGTH]
