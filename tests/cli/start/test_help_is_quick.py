"""`runyard --help` answers at once, because it loads nothing that only the verbs need."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.cli_process import RUNYARD
from tests.cli.start.cpu_time import allowed_seconds, cpu_seconds, without_coverage

HEAVY = {
    "fastapi",
    "starlette",
    "pydantic",
    "asyncpg",
    "alembic",
    "sqlalchemy",
    "httpx2",
    "uvicorn",
    "structlog",
    "rich",
    "litellm",
    "openai",
}


def test_help_takes_less_than_0_15_seconds_of_cpu_time(tmp_path: Path) -> None:
    took = cpu_seconds([RUNYARD, "--help"], tmp_path, without_coverage())
    assert took < allowed_seconds(0.15, tmp_path)


@pytest.mark.parametrize("arguments", ["--help", "--version", "dev --help", "runs list --help"])
def test_help_loads_nothing_heavy(arguments: str, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from runyard.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print('modules:', *{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments.split()],
        cwd=tmp_path,
        env=without_coverage(),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.rpartition("modules:")[2].split())
    assert "runyard" in loaded
    assert loaded & HEAVY == set()
