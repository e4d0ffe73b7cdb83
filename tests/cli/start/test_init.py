"""`runyard init` writes an app that is served, tested and linted as it is, and overwrites nothing."""

import re
import subprocess
import sys
from pathlib import Path

from tests.cli.cli_process import environment, runyard, serving
from tests.cli.terminal import terminal
from tests.support.eventually import PATIENCE

FILES = {".gitignore", "Dockerfile", "README.md", "app.py", "requirements.txt", "test_app.py"}


def in_folder(folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_new_app_passes_its_tests_and_a_linter(tmp_path: Path) -> None:
    made = runyard(tmp_path, "init", "shop/agents")
    assert made.returncode == 0, made.stderr
    folder = tmp_path / "shop" / "agents"
    assert {path.name for path in folder.iterdir()} == FILES
    assert "cd shop/agents" in made.stdout
    tests = in_folder(folder, "pytest", "-q", "-p", "no:cacheprovider")
    assert "3 passed" in tests.stdout, tests.stdout + tests.stderr
    for checker in (["ruff", "check", "--isolated", "."], ["ruff", "format", "--isolated", "--check", "."]):
        checked = in_folder(folder, *checker)
        assert checked.returncode == 0, checked.stdout


def test_the_new_app_is_served_and_answers_after_an_approval(tmp_path: Path) -> None:
    assert runyard(tmp_path, "init").returncode == 0
    with serving(tmp_path, "app.py") as url, terminal(tmp_path, "chat", env={"RUNYARD_URL": url}) as person:
        person.until("> ")
        person.type("Greet ann@example.com\n")
        person.until("send_mail")
        person.type("y\n")
        person.until("Sent to ann@example.com.")


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("mine")
    refused = runyard(tmp_path, "init")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert re.search(r"has app\.py already\. Name a new folder", refused.stderr)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"app.py": "mine"}
