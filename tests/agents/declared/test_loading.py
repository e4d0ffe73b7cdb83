"""An app is a Python file. A mistake in it is one sentence with the file and the line."""

from pathlib import Path

import pytest

from runyard.agents.declared.loading import load
from runyard.errors import StartupError
from runyard.store import Document

ROOT = Path(__file__).parents[3]

APP = """
import runyard
from words_of_the_app import WORD

@runyard.agent
async def first(ctx):
    return WORD

second = runyard.scripted("second", [{"token": "x"}])
docs = runyard.Documents("docs", [{"id": "a", "title": "A", "text": "aa"}])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.path", __import__("sys").path.copy())
    (tmp_path / "words_of_the_app.py").write_text("WORD = 'hello'")
    return tmp_path


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_file_gives_its_agents_its_documents_and_the_first_agent_as_default(folder: Path) -> None:
    app = load(written(folder / "app.py", APP))

    assert list(app.agents) == ["first", "second"]
    assert app.collections == {"docs": (Document("a", "A", "aa"),)}
    assert app.default == "first"


def test_a_file_may_name_its_default(folder: Path) -> None:
    assert load(written(folder / "app.py", APP + "\ndefault = second\n")).default == "second"


PLANS = """
async def node(ctx): ...
one = runyard.plan("one", [runyard.Node("A", node)])
two = runyard.plan("two", [runyard.Node("A", node)])
"""


@pytest.mark.parametrize(
    ("more", "default", "plan"),
    [("", "first", None), (PLANS, "first", "one"), (PLANS, "two", "two"), (PLANS, None, "one")],
)
def test_the_plan_that_runs_when_none_is_named(folder: Path, more: str, default: str | None, plan: str | None) -> None:
    assert load(written(folder / "app.py", APP + more)).plans(default)[:1] == ([] if plan is None else [plan])


def test_a_folder_is_loaded_by_its_app_file(folder: Path) -> None:
    written(folder / "app.py", APP)

    assert load(folder).default == "first"


def test_a_package_may_import_from_itself(folder: Path) -> None:
    package = folder / "my_agents"
    package.mkdir()
    written(package / "inner.py", APP)
    written(package / "__init__.py", "from .inner import first, second")

    assert list(load(package).agents) == ["first", "second"]


def test_a_file_may_have_the_name_of_any_module(folder: Path) -> None:
    assert load(written(folder / "json.py", APP)).default == "first"
    import json

    assert json.loads("1") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "import runyard\nimport no_such_thing",
            "app.py, line 2: ModuleNotFoundError: No module named 'no_such_thing'.",
        ),
        ("x = 1\ndef (", "app.py, line 2: invalid syntax."),
        ("def f():\n    return 1 / 0\nf()", "app.py, line 2: ZeroDivisionError: division by zero."),
        ("import sys\nsys.exit(3)", "app.py, line 2: SystemExit: 3."),
        ("import runyard\n@runyard.agent\ndef f(ctx): ...", "app.py, line 2: Invalid: f is not async"),
        ("x = 1", "app.py declares no agent"),
        (APP + "\nthird = runyard.agent(name='first')(first.fn)", "app.py: two agents are named first."),
        (APP + "\nmore = runyard.Documents('docs', [])", "app.py: two collections of documents are named docs."),
        (APP + "\ndefault = 3", "app.py: `default` must be one of its agents."),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(folder: Path, text: str, says: str) -> None:
    with pytest.raises(StartupError) as caught:
        load(written(folder / "app.py", text))
    assert says in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(("name", "says"), [("none.py", "does not exist"), (".", "neither"), ("a.txt", "not a Python")])
def test_a_missing_file_is_one_sentence(folder: Path, name: str, says: str) -> None:
    written(folder / "a.txt", "")
    with pytest.raises(StartupError, match=says):
        load(folder / name)


def test_the_examples_load() -> None:
    files = [file for file in (ROOT / "examples").glob("*.py") if not file.stem.startswith("test_")]
    found = {file.stem: load(file).default for file in files}
    assert found == {
        "chat": "assistant",
        "device_plan": "device",
        "graph_support": "support",
        "greeter": "greeter",
        "own_framework": "support",
        "support": "support",
        "tour": "cv-screener",
    }
