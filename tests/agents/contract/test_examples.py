"""The examples work: three services, a pipeline over them, and a template to copy."""

import asyncio
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from examples.contract.asking import terminal_of
from examples.contract.literature import main as literature
from examples.contract.policy import main as policy
from examples.contract.retrieval import main as retrieval
from runyard import demo
from runyard.agents.declared.loading import app_of, load
from runyard.base.clock import SystemClock
from runyard.contract import report
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from tests.agents.contract.app_in_thread import app_on_a_port
from tests.support.eventually import PATIENCE
from tests.support.in_process import live_server

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "contract"
SERVICES = {"LIT_RETRIEVAL": literature, "RAG_RETRIEVE": retrieval, "POLICY_REVIEW": policy}
NAMED = "test_stream_terminal_event_has_request_id_task_type_status"


def what_pytest_says(folder: Path, where: Path) -> str:
    """Run pytest in this folder without our settings and return the result."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        str(where),
    ]
    command += ["--import-mode=importlib", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(where)}
    found = subprocess.run(
        command, cwd=where, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def conforms(url: str, task_type: str) -> None:
    (found,) = report.check(report.targets([f"{url}={task_type}"]))
    assert found.passed, report.table([found])


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Start the three services and return their addresses by task type."""
    with ExitStack() as running:
        found = {}
        for task_type, main in SERVICES.items():
            monkeypatch.setenv("RUNYARD_DATABASE_URL", f"sqlite:///{tmp_path}/{task_type}.db")
            found[task_type] = running.enter_context(app_on_a_port(partial(_made, main.app())))
        monkeypatch.delenv("RUNYARD_DATABASE_URL")
        yield found


def _made(app: Any) -> Any:
    return app


@pytest.mark.req("S2.29")
def test_every_agent_is_a_service_on_its_own_port_and_conforms(services: dict[str, str]) -> None:
    assert len(set(services.values())) == 3
    for task_type, url in services.items():
        conforms(url, task_type)


@pytest.mark.req("S2.26", "S2.29")
async def test_the_demo_serves_all_three_and_conforms() -> None:
    settings = Settings(database_url="sqlite:///unused.db", **live_server.QUICK)
    async with live_server.served(settings, app_of(demo), MemoryStore(SystemClock())) as server:
        for task_type in SERVICES:
            await asyncio.to_thread(conforms, f"http://127.0.0.1:{server.port}", task_type)


@pytest.mark.req("S2.29", "S2.30", "S2.31")
@pytest.mark.flow
def test_the_tests_of_the_agents_pass_under_their_names() -> None:
    said = what_pytest_says(EXAMPLES, ROOT)
    for agent in ("literature", "retrieval", "policy", "template"):
        assert f"{agent}/tests/test_contract.py::{NAMED} PASSED" in said


@pytest.mark.req("S2.31")
@pytest.mark.parametrize(
    "names",
    [["started"], ["started", "final", "complete"], ["final", "progress"], []],
    ids=["none", "two", "not the last", "no events"],
)
def test_a_stream_without_one_last_terminal_event_fails_the_test_of_the_agents(names: list[str]) -> None:
    whole = {"request_id": "r", "task_type": "t", "status": "ok"}
    assert terminal_of([("started", {}), ("final", whole)]) == whole
    with pytest.raises(AssertionError):
        terminal_of([(name, whole) for name in names])


@pytest.mark.req("S2.31")
@pytest.mark.parametrize("missing", ["request_id", "task_type", "status"])
def test_a_terminal_event_that_lacks_a_field_fails_the_test_of_the_agents(missing: str) -> None:
    whole = {"request_id": "r", "task_type": "t", "status": "ok"}
    for broken in ({**whole, missing: ""}, {**whole, missing: None}, {k: v for k, v in whole.items() if k != missing}):
        with pytest.raises(AssertionError, match=missing):
            terminal_of([("final", broken)])


@pytest.mark.req("S2.32")
@pytest.mark.flow
def test_a_copy_of_the_template_passes_its_own_tests(tmp_path: Path) -> None:
    copy = shutil.copytree(EXAMPLES / "template", tmp_path / "mine")
    assert NAMED in what_pytest_says(copy / "tests", copy)


@pytest.mark.req("S2.32", "S2.33")
def test_the_template_conforms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES / "template")
    main = importlib.import_module("agent.main")
    try:
        with app_on_a_port(lambda: main.app) as url:
            conforms(url, "TEMPLATE_TASK")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "agent"]:
            del sys.modules[name]


LABELS = {"request_id": "pipe-1", "workflow_id": "w-7", "stage_id": "s-2", "mode": "LIVE"}


@pytest.mark.req("S2.5", "S2.33")
async def test_a_pipeline_passes_what_the_request_carries_to_every_service(
    services: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"LITERATURE": "LIT_RETRIEVAL", "RETRIEVAL": "RAG_RETRIEVE", "POLICY": "POLICY_REVIEW"}
    for name, task_type in places.items():
        monkeypatch.setenv(f"{name}_URL", services[task_type])
    settings = Settings(database_url="sqlite:///unused.db", **live_server.QUICK)
    app = load(EXAMPLES / "pipeline.py")
    asked = {**LABELS, "task_type": "EVIDENCE_SYNTHESIS", "inputs": {"query": "aspirin stroke"}}
    async with live_server.served(settings, app, MemoryStore(SystemClock())) as server:
        found = (await server.http.post("/agents/run/sync", json=asked)).json()

    assert (found["status"], found["request_id"]) == ("ok", "pipe-1")
    assert list(found["outputs"]) == ["Retrieve", "Screen", "Extract", "Synthesize"]
    assert set(found["outputs"]["Synthesize"]["papers"]) == {"paper_001", "paper_004"}
    assert "guide_001" in found["outputs"]["Synthesize"]["citations"]
    for url in services.values():
        for labels in await given(url):
            assert labels == LABELS


async def given(url: str) -> list[dict[str, str]]:
    """Return the labels of every task that a service received."""
    async with httpx2.AsyncClient(base_url=url, trust_env=False, verify=False, timeout=PATIENCE) as http:
        runs = (await http.get("/api/runs")).json()["runs"]
        assert runs
        logs = [(await http.get(f"/api/runs/{run['run_id']}/log")).text for run in runs]
    first = [log.split("data: ", 1)[1].split("\n", 1)[0] for log in logs]
    return [json.loads(data)["data"]["task"]["labels"] for data in first]
