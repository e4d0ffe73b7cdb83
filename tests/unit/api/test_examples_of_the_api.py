"""Every public name has a docstring that describes each argument and each error, and an example that runs."""

import ast
import asyncio
import builtins
import doctest
import inspect
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, get_args, get_type_hints

import pytest

import runyard
import runyard.client
from runyard.agents.tools.tool import Tool
from runyard.errors import NestedCall, ResultNotJson, RunyardError, UnknownOutcome
from runyard.testing import Decision, MemoryStore, run_agent, run_agent_sync
from scripts.api import public_types
from scripts.api.public_api import Public, documentation, members, names
from scripts.api.raised_errors import errors_raised_by
from tests.unit.api.example_server import (
    REMOTE,
    SERVER,
    example_server,
    objects_of_an_example,
    without_log_lines,
)

# The docstring of an error is its message, so it has neither arguments nor an example.
NAMES = [one for one in names() if not one.is_error]
EVERYTHING = [found for one in NAMES for found in (one, *members(one))]
# Runners and tests get these and do not make them: their docstrings describe the fields.
GIVEN = {
    "AskedApproval",
    "Context",
    "Hit",
    "Message",
    "NodeContext",
    "RecordedStep",
    "ResultFile",
    "RunFailure",
    "RunResult",
    "Task",
    "ToolCall",
}
# Raised in the code that they share with others, but not for them.
NEVER: dict[str, set[type[RunyardError]]] = {
    "Context.attach": {NestedCall},  # inside a step or a tool it stores the file at once
    "Context.step": {ResultNotJson, UnknownOutcome},  # becomes a StepFailed; of `step_once` only
    "Context.step_once": {ResultNotJson},
}
# `run_agent` describes the arguments.
SAME_ARGUMENTS = {"run_agent_sync"}


def label(of: Public) -> str:
    return of.label


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with example_server(tmp_path_factory.mktemp("served")) as address:
        yield address


def run_example(text: str, known: dict[str, Any], loop: asyncio.Runner, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the example in a docstring as `python -m asyncio` would, and return what went wrong."""

    def execute(code: CodeType, names: dict[str, Any]) -> None:
        if not code.co_flags & inspect.CO_COROUTINE:
            exec(code, names)
            return
        loop.run(FunctionType(code, names)())

    monkeypatch.setattr(doctest, "exec", execute, raising=False)
    example = doctest.DocTestParser().get_doctest(text, known, "example", None, 0)
    report: list[str] = []
    ran = doctest.DocTestRunner().run(example, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, report.append)
    assert ran.attempted, "it has no example"
    return "".join(report) if ran.failed else ""


@pytest.mark.parametrize("of", EVERYTHING, ids=label)
def test_the_example_of_a_public_name_runs(
    of: Public, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = documentation(of).partition("Example:")[2]
    known: dict[str, Any] = {"asyncio": asyncio, "runyard": runyard, "Decision": Decision, "MemoryStore": MemoryStore}
    known |= {"run_agent": run_agent, "run_agent_sync": run_agent_sync}
    is_client = of.owner is runyard.Client
    if is_client or of.name == "Client" or REMOTE in text:
        address = request.getfixturevalue("server")
        text = text.replace(SERVER, address).replace(REMOTE, f'url="{address}", allow=["127.0.0.1"]')
    with without_log_lines(), asyncio.Runner() as loop:
        objects = AsyncExitStack()
        if is_client:
            known |= loop.run(objects.enter_async_context(objects_of_an_example(address, text)))
        try:
            assert not (failure := run_example(text, known, loop, monkeypatch)), failure
        finally:
            loop.run(objects.aclose())


@pytest.mark.parametrize(
    "text",
    [">>> 1 + 1\n3", ">>> await asyncio.sleep(0, 1)\n2", ">>> [x async for x in missing]"],
    ids=["a wrong value", "a wrong awaited value", "an error"],
)
def test_a_wrong_example_fails(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with asyncio.Runner() as loop:
        assert run_example(text, {"asyncio": asyncio}, loop, monkeypatch)
        assert not run_example(">>> await asyncio.sleep(0, 1)\n1", {"asyncio": asyncio}, loop, monkeypatch)


def test_every_error_has_a_message() -> None:
    assert all(documentation(one) for one in names() if one.is_error)


@pytest.mark.parametrize("of", EVERYTHING, ids=label)
def test_the_docstring_describes_every_argument(of: Public) -> None:
    text = documentation(of)
    assert text, "it has no docstring"
    if of.name in SAME_ARGUMENTS | GIVEN | {"Settings"}:
        return
    value = of.value.fn if isinstance(of.value, Tool) else of.value
    described = re.findall(r"^    (\w+): ", text.partition("Args:")[2].partition("Raises:")[0], re.MULTILINE)
    wanted = [name for name in inspect.signature(value).parameters if name != "self"]
    assert described == wanted


@pytest.mark.parametrize("of", EVERYTHING, ids=label)
def test_the_docstring_names_every_public_error_that_the_code_raises(of: Public) -> None:
    described = errors_described_by(of)
    raised = errors_raised_by(of) - NEVER.get(of.label, set())
    missing = [error for error in raised if not described & {base.__name__ for base in bases_of(error)}]
    assert [error.__name__ for error in missing] == []


def bases_of(error: type[RunyardError]) -> Iterator[type]:
    """Return the errors whose mention describes this one, too. `RunyardError` says nothing about the others."""
    return (base for base in error.__mro__ if base is not RunyardError or error is RunyardError)


def errors_described_by(of: Public) -> set[str]:
    """Return the errors under `Raises:`; for a member also those that its class says of every method."""
    whole = documentation(of).partition("Raises:")[2].partition("Example:")[0]
    if of.owner is not None:
        whole += "".join(
            line + "\n"
            for line in inspect.cleandoc(of.owner.__doc__ or "").partition("Raises:")[2].splitlines()
            if "By every method" in line
        )
    if of.name in SAME_ARGUMENTS:
        return errors_described_by(next(one for one in NAMES if one.name == "run_agent"))
    return set(re.findall(r"^ +(\w+): ", whole, re.MULTILINE))


def test_every_public_name_is_fully_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(public_types.problems()) == []
    monkeypatch.setattr(public_types, "ANY", {})
    assert any(line.startswith("Context.call: ") for line in public_types.problems())


@pytest.mark.parametrize("of", [one for one in EVERYTHING if one.module == "runyard"], ids=label)
def test_every_error_that_a_docstring_names_is_a_public_name(of: Public) -> None:
    assert {
        name for name in errors_described_by(of) if not hasattr(runyard, name) and not hasattr(builtins, name)
    } == set()


@pytest.mark.parametrize("kind", [runyard.Context, runyard.NodeContext, runyard.Client], ids=lambda kind: kind.__name__)
def test_every_type_that_a_method_takes_or_returns_is_a_public_name(kind: type) -> None:
    public = {getattr(module, name) for module in (runyard, runyard.client) for name in module.__all__}
    methods = [one.value for one in EVERYTHING if one.owner is kind]
    hints = [get_type_hints(method, localns=vars(runyard)) for method in methods]
    named = {found for hint in hints for annotation in hint.values() for found in classes_in(annotation)}
    ours = {found for found in named if found.__module__.startswith("runyard.")}
    assert ours
    assert {found.__name__ for found in ours - public} == set()


def classes_in(annotation: Any) -> Iterator[type]:
    """Return the classes in an annotation, also those in `list[...]`, unions and the like."""
    if isinstance(annotation, type):
        yield annotation
    for inner in annotation if isinstance(annotation, list) else get_args(annotation):
        yield from classes_in(inner)
