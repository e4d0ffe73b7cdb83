"""`runyard --help` answers at once, because it loads nothing that only the verbs need."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.cli_process import RUNYARD, environment

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


def without_coverage() -> dict[str, str]:
    return {name: value for name, value in environment().items() if not name.startswith("COV")}


def test_help_answers_in_less_than_0_4_seconds(tmp_path: Path) -> None:
    took = []
    for _ in range(5):  # other tests use this machine, too: what counts is the time that the program itself takes
        process = subprocess.Popen([RUNYARD, "--help"], cwd=tmp_path, env=without_coverage(), stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        took.append(used.ru_utime + used.ru_stime)
        if took[-1] < 0.4:
            return
    pytest.fail(f"{min(took):.2f} s")


# Typer itself checks the values of options with pydantic, so a verb's own help has it.
@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["dev", "--help"], set()),
        (["runs", "list", "--help"], set()),
    ],
)
def test_help_loads_nothing_heavy(arguments: list[str], allowed: set[str], tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from runyard.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print('modules:', *{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path,
        env=without_coverage(),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.rpartition("modules:")[2].split())
    assert "runyard" in loaded
    assert loaded & HEAVY <= allowed
