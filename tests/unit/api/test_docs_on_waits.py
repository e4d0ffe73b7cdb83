"""The examples of docs/waits.md run, and its tables match the code."""

import asyncio
import re
from pathlib import Path
from typing import Any, get_args

import runyard
from runyard.app.process import Process
from runyard.base.json_schema.structure import MOST_BYTES, MOST_LEVELS
from runyard.domain.wait import ApprovalKind, ValueKind
from runyard.engine.intake.client_tools import MOST
from runyard.testing import MemoryStore, run_agent_sync
from tests.agents.contract.app_in_thread import app_on_a_port

PAGE = (Path(__file__).parents[3] / "docs" / "waits.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ANSWERS = {"Which seat?": {"row": 12}, "locate": "Oslo", "order.paid": {"by": "card"}}


def example(number: int) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(EXAMPLES[number], "docs/waits.md", "exec", dont_inherit=True), names)
    return names


def test_the_example_of_an_agent_runs_with_answers_and_without_an_event() -> None:
    names = example(0)
    result = run_agent_sync(names["airline"], "A seat", answers=ANSWERS, agents=[names["fares"]])
    assert result.text == "Row 12. From Oslo: 99 EUR, paid by card."
    late = {name: value for name, value in ANSWERS.items() if name != "order.paid"}
    result = run_agent_sync(names["airline"], "A seat", answers=late, agents=[names["fares"]])
    assert result.text == "The offer expired."


def test_the_example_of_a_client_answers_a_server(tmp_path: Path) -> None:
    agents = example(0)
    settings = runyard.Settings(database_url=f"sqlite:///{tmp_path}/unused.db", workspaces=tmp_path, drain_seconds=0)
    app = runyard.App({name: agents[name] for name in ("airline", "fares")}, default="airline")

    def served() -> Any:
        return runyard.create_app(settings, process=Process(settings, app, store=MemoryStore()), keys=False)

    with app_on_a_port(served) as address:
        assert asyncio.run(example(1)["book"](address)) == "The seat is booked."


def test_the_tables_name_every_kind_and_the_limits_of_the_code() -> None:
    for kind in (*get_args(ApprovalKind), *get_args(ValueKind)):
        assert f"`{kind}`" in PAGE
    settings = runyard.Settings()
    said = {
        f"`RUNYARD_MAX_CHILDREN` ({settings.max_children})",
        f"`RUNYARD_MAX_CHILD_DEPTH` ({settings.max_child_depth})",
        f"| client tools of one request | {MOST} |",
        f"{MOST_BYTES // 1024} KB, {MOST_LEVELS} levels",
    }
    assert {sentence for sentence in said if sentence not in PAGE} == set()
