"""Every public name has a docstring that describes each argument, and an example that runs."""

import asyncio
import doctest
import inspect
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

import runyard
from runyard.agents.tools.tool import Tool
from runyard.app.process import Process
from runyard.testing import Decision, MemoryStore, run_agent, run_agent_sync
from scripts.api import public_types
from scripts.api.public_api import Public, documentation, members, names
from tests.agents.contract.app_in_thread import app_on_a_port

NAMES = [one for one in names() if not one.is_error]
EVERYTHING = [found for one in NAMES for found in (one, *members(one))]
# Plain values that tests get back: their fields are their documentation.
VALUES = {"AskedApproval", "RecordedStep", "ResultFile", "RunFailure", "RunResult", "ToolCall"}
# `run_agent` describes the arguments.
SAME_ARGUMENTS = {"run_agent_sync"}
ADDRESS = "http://127.0.0.1:8000"


def label(of: Public) -> str:
    return of.label


@runyard.agent
async def greeter(ctx: runyard.Context) -> str:
    return f"Hello {ctx.message.text}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    url = f"sqlite:///{folder}/unused.db"
    settings = runyard.Settings(database_url=url, workspaces=folder / "workspaces", drain_seconds=0)
    app = runyard.App({"greeter": greeter}, default="greeter")

    def served() -> Any:
        return runyard.create_app(settings, process=Process(settings, app, store=MemoryStore()), keys=False)

    before = structlog.get_config()["wrapper_class"]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with app_on_a_port(served) as address:
        yield address
    structlog.configure(wrapper_class=before)


@pytest.fixture
def no_log_lines() -> Iterator[None]:
    before = structlog.get_config()["wrapper_class"]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.configure(wrapper_class=before)


@pytest.mark.parametrize("of", [one for one in NAMES if one.name not in VALUES], ids=label)
def test_the_example_of_a_public_name_runs(
    of: Public, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = documentation(of)
    assert ">>>" in text.partition("Example:")[2], "it has no example"
    if ADDRESS in text and of.name == "Client":
        text = text.replace(ADDRESS, request.getfixturevalue("server"))
    known = {"asyncio": asyncio, "runyard": runyard, "Decision": Decision, "MemoryStore": MemoryStore}
    known |= {"run_agent": run_agent, "run_agent_sync": run_agent_sync}
    example = doctest.DocTestParser().get_doctest(text, known, of.label, None, 0)
    report: list[str] = []
    request.getfixturevalue("no_log_lines")
    ran = doctest.DocTestRunner().run(example, out=report.append)
    assert ran.attempted
    assert not ran.failed, "".join(report)


@pytest.mark.parametrize("of", [one for one in EVERYTHING if one.name not in VALUES], ids=label)
def test_the_docstring_describes_every_argument(of: Public) -> None:
    text = documentation(of)
    assert text, "it has no docstring"
    if of.name in SAME_ARGUMENTS | {"Settings"} or of.owner is Tool:
        return
    value = of.value.fn if isinstance(of.value, Tool) else of.value
    if isinstance(value, type) and value in (runyard.Context, runyard.NodeContext):
        return  # runners make them
    described = re.findall(r"^    (\w+): ", text.partition("Args:")[2].partition("Raises:")[0], re.MULTILINE)
    wanted = [name for name in inspect.signature(value).parameters if name != "self"]
    assert described == wanted


def test_every_public_name_is_fully_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(public_types.problems()) == []
    monkeypatch.setattr(public_types, "ANY", {})
    assert any(line.startswith("Context.call: ") for line in public_types.problems())
