"""A command on a local database answers quickly, because it loads little.

These tests name the modules that took most of the time and must stay away, and bound the CPU time of a command.
"""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.base.clock import SystemClock
from runyard.domain.api_key import LOCAL
from runyard.stores.sqlite.store import SqliteStore
from tests.cli.cli_process import RUNYARD
from tests.cli.start.cpu_time import allowed_seconds, cpu_seconds, without_coverage
from tests.store.factories import a_post, waiting

HEAVY = {
    "fastapi", "starlette", "uvicorn", "httpx2", "litellm", "openai", "mcp", "alembic", "sqlalchemy", "asyncpg",
    "pydantic", "structlog", "rich", "pygments", "typer", "click", "prometheus_client", "cryptography", "regex",
    "importlib.metadata", "email", "http.client", "http.server", "tomllib", "json", "multiprocessing", "dataclasses",
}  # fmt: skip
HEAVY_ROOMS = ("runyard.web", "runyard.agents", "runyard.models", "runyard.stores.migrations.versions")
MOST_MODULES = 430  # 400 today: 190 of Python itself, 40 packages of one line; a larger one is a few milliseconds
NO_SERVER = {"RUNYARD_URL": "http://127.0.0.1:9"}
PROGRAM = (
    "import sys\n"
    "from runyard.cli import main\n"
    "try: main()\n"
    "except SystemExit as end: assert not end.code\n"
    "print('modules:', *sys.modules)\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a database, and the id of a run in it that waits for an approval."""
    folder = tmp_path_factory.mktemp("local")

    async def fill() -> str:
        store = SqliteStore(folder / ".runyard" / "runyard.db", SystemClock())
        await store.open()
        run, _ = await waiting(store, a_post(owner=LOCAL))
        await store.close()
        return run.id

    return folder, asyncio.run(fill())


@pytest.mark.parametrize(
    "command",
    [
        "runs list",
        "runs list --json",
        "runs show RUN",
        "approvals list",
        "threads list",
        "agents list",
        "__complete runs show 0",
        "keys list",
        "status",
        "status --json",
        "keys create --owner ann",
    ],
)
def test_a_command_on_a_local_database_loads_no_heavy_library(command: str, folder: tuple[Path, str]) -> None:
    place, run_id = folder
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command.replace("RUN", run_id).split()],
        cwd=place,
        env=without_coverage() | NO_SERVER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed, _, names = done.stdout.rpartition("modules:")
    modules = set(names.split())
    assert modules & HEAVY == set()
    assert [name for name in modules if name.startswith(HEAVY_ROOMS)] == []
    assert len(modules) < MOST_MODULES
    if command.startswith(("runs", "approvals", "__complete")):
        assert run_id in printed


@pytest.mark.parametrize("command", ["runs list", "status"])
def test_a_command_on_a_local_database_takes_less_than_0_4_seconds_of_cpu_time(
    command: str, folder: tuple[Path, str]
) -> None:
    took = cpu_seconds([RUNYARD, *command.split()], folder[0], without_coverage() | NO_SERVER)
    assert took < allowed_seconds(0.4, folder[0])
