"""A command on a local database answers quickly, because it builds no web app and loads no model library."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.cli_process import runyard
from tests.cli.test_help_is_quick import without_coverage

HEAVY = {
    "fastapi", "starlette", "uvicorn", "httpx2", "litellm", "openai", "mcp", "alembic", "sqlalchemy", "asyncpg",
    "pydantic_settings",
}  # fmt: skip
NO_SERVER = {"RUNYARD_URL": "http://127.0.0.1:9"}
PROGRAM = (
    "import sys\n"
    "from runyard.cli import main\n"
    "try: main()\n"
    "except SystemExit as end: assert not end.code\n"
    "print('modules:', *{name.partition('.')[0] for name in sys.modules})\n"
    "print('own:', *[name for name in sys.modules if name.startswith('runyard.')])"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert runyard(tmp_path, "migrate").returncode == 0
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [["runs", "list"], ["approvals", "list"], ["keys", "list"], ["status"], ["keys", "create", "--owner", "ann"]],
)
def test_a_command_on_a_local_database_loads_no_web_app(arguments: list[str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        env=without_coverage() | NO_SERVER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    modules, own = done.stdout.rpartition("modules:")[2].split("own:")
    assert set(modules.split()) & HEAVY == set()
    rooms = {".".join(name.split(".")[:2]) for name in own.split()}
    assert rooms & {"runyard.web", "runyard.agents", "runyard.models"} == set()
