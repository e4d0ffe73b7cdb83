"""A failure is one sentence on stderr, with an exit code: 2 when Runyard cannot start, 1 otherwise."""

import socket
from pathlib import Path

import pytest

from tests.cli.cli_process import runyard
from tests.cli.terminal import terminal

NO_SERVER = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("arguments", "env", "code", "says"),
    [
        (["dev"], {"RUNYARD_PROT": "1"}, 2, "RUNYARD_PROT is not a setting; did you mean RUNYARD_PORT?"),
        (["serve"], {"RUNYARD_PORT": "x"}, 2, "RUNYARD_PORT must be a whole number."),
        (["dev", "nowhere.py"], {}, 2, "nowhere.py does not exist."),
        (["worker"], {}, 2, "SQLite has one process"),
        (["serve", "--no-worker"], {}, 2, "SQLite has one process"),
        (["serve", "--processes", "2"], {}, 2, "SQLite has one process; set RUNYARD_DATABASE_URL"),
        (["runs", "list"], {"RUNYARD_URL": NO_SERVER}, 1, f"No server answers at {NO_SERVER}; start one"),
        (["approvals", "approve", "x", "--input", "1"], {}, 1, "--input must be a JSON object."),
        (
            ["migrate"],
            {"RUNYARD_DATABASE_URL": "postgresql://me:hunter2@127.0.0.1:9/x"},
            2,
            "Postgres does not answer",
        ),
    ],
)
def test_a_failure_says_what_to_do(
    arguments: list[str], env: dict[str, str], code: int, says: str, tmp_path: Path
) -> None:
    done = runyard(tmp_path, *arguments, env=env)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("runyard: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert "hunter2" not in done.stderr


def test_a_misspelt_verb_is_put_right(tmp_path: Path) -> None:
    done = runyard(tmp_path, "deb")
    assert done.returncode == 2
    assert "Did you mean 'dev'?" in done.stderr


def test_an_app_that_fails_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("\n\nraise ValueError('no luck')\n")
    done = runyard(tmp_path, "dev", "app.py")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("app.py, line 3: ValueError: no luck.")


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = runyard(tmp_path, "dev", "--port", port)
        assert done.returncode == 2
        assert f"Cannot listen on 127.0.0.1:{port}" in done.stderr

        doctor = runyard(tmp_path, "doctor", env={"RUNYARD_PORT": port, "RUNYARD_URL": NO_SERVER})
        assert doctor.returncode == 1
        assert "✗  port" in doctor.stdout


def test_a_traceback_is_shown_only_to_who_asks_for_it(tmp_path: Path) -> None:
    assert "Traceback" not in runyard(tmp_path, "dev", "nowhere.py").stderr
    assert "Traceback" in runyard(tmp_path, "dev", "nowhere.py", env={"RUNYARD_DEBUG": "1"}).stderr


def test_looking_makes_no_database(tmp_path: Path) -> None:
    for verb in (["runs", "list"], ["doctor"], ["migrate", "--check"]):
        runyard(tmp_path, *verb, env={"RUNYARD_PORT": "9"})
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_breaks_a_failure_between_words(tmp_path: Path) -> None:
    with terminal(tmp_path, "runs", "list", env={"RUNYARD_URL": NO_SERVER, "COLUMNS": "40"}) as shown:
        said = shown.until("dev`.")
    assert said == f"runyard: No server answers at\n{NO_SERVER}; start one with\n`runyard dev`."
