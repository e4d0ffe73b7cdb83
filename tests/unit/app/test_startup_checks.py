"""A process with a worker loads libraries before it is ready, so that no run stops the event loop for an import."""

import importlib
import threading
from types import ModuleType

import pytest

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from runyard.app.startup_checks import check_and_load
from runyard.models import loading
from runyard.settings import Settings
from runyard.telemetry.logger import get_logger


def calling(*tools: object) -> Agent:
    async def caller(ctx: Context) -> str:
        return "done"

    return agent(name="caller", tools=tools)(caller)  # type: ignore[arg-type]


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """The modules that are imported by name, each with whether the main thread does it."""
    get_logger().info("process.started")  # loads what the logger needs
    names: list[tuple[str, bool]] = []

    def noted(name: str) -> ModuleType:
        names.append((name, threading.current_thread() is threading.main_thread()))
        return ModuleType(name)

    monkeypatch.setattr(importlib, "import_module", noted)
    return names


@pytest.mark.parametrize(
    ("declared", "has_worker", "expected"),
    [
        (calling(runyard.mcp("a-server")), True, {"mcp.client.stdio", "mcp.client.streamable_http"}),
        (calling(runyard.mcp("a-server")), False, set()),
        (calling(), True, set()),
    ],
)
async def test_the_library_of_tool_servers_is_imported_beside_the_loop_before_the_start(
    declared: Agent, has_worker: bool, expected: set[str], imported: list[tuple[str, bool]]
) -> None:
    await check_and_load(Settings(), App({"caller": declared}, {}, "caller"), has_worker=has_worker)
    assert {name for name, _ in imported if name.startswith("mcp")} == expected
    assert not any(is_main for name, is_main in imported if name in expected)


@pytest.mark.parametrize(
    ("agent_models", "has_worker", "expected"),
    [("openai/gpt-5-mini", True, 1), ("openai/gpt-5-mini", False, 0), ("", True, 0), (None, True, 0)],
)
async def test_litellm_is_loaded_before_the_start_for_agents_that_clients_create(
    agent_models: str | None, has_worker: bool, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[None] = []

    async def load() -> None:
        loads.append(None)

    monkeypatch.setattr(loading, "load_beside_the_loop", load)
    settings = Settings(agent_models=agent_models)
    await check_and_load(settings, App({"caller": calling()}, {}, "caller"), has_worker=has_worker)
    assert len(loads) == expected
