"""Missing programs are installed without root, or named at once; tests that need them are reported, not failed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.setup import programs

ROOT = Path(__file__).parents[3]
MISSING_TEST = """
from tests.support.session.missing_programs import ProgramMissing, pytest_runtest_makereport, pytest_terminal_summary
from scripts.setup import programs
programs.is_strict = lambda: {strict}
"""
USERS = """
import pytest
from tests.support.session.missing_programs import ProgramMissing
@pytest.fixture
def browser():
    raise ProgramMissing("No chromium was found.", "chromium")
def test_one(browser): pass
def test_two(browser): pass
def test_three(): raise ProgramMissing("No nginx was found.", "nginx")
def test_four(): pass
"""


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any of the programs; its PATH is the folder that is returned."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setattr(programs, "SCRIPTS", tmp_path / "venv" / "bin")
    monkeypatch.setattr(programs, "FOLDER", tmp_path / "venv" / "programs")
    monkeypatch.setattr(programs, "UNPACKED", tmp_path / "venv" / "programs" / "root")
    monkeypatch.setattr(programs, "MORE_PLACES", ())
    programs.SCRIPTS.mkdir(parents=True)
    programs.FOLDER.mkdir(parents=True)
    return path


@pytest.mark.parametrize(("is_root", "ci", "code"), [(False, "", 0), (False, "true", 1), (True, "", 1)])
def test_all_that_is_missing_is_said_at_once_with_one_command(
    machine: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_root: bool,
    ci: str,
    code: int,
) -> None:
    executable(machine / "apt-get", "exit 100")
    monkeypatch.setattr(os, "geteuid", lambda: 0 if is_root else 1000)
    monkeypatch.setenv("CI", ci)

    assert programs.main(["--tests", *programs.PROGRAMS]) == code

    said = capsys.readouterr().err
    assert [said.count(f"MISSING: {name},") for name in programs.PROGRAMS] == [1] * len(programs.PROGRAMS)
    [command] = [line for line in said.splitlines() if "to install" in line]
    assert command.endswith("install -y --no-install-recommends bubblewrap curl nginx chromium prometheus fish zsh")
    assert ("sudo" in command) is not is_root


def test_the_documentation_names_every_program_that_tests_need() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Programs")[2].partition("\n## ")[0].lower()
    said = {name: "bubblewrap" if name == "bwrap" else name for name in programs.PROGRAMS}
    assert [name for name, word in said.items() if word not in section] == []
    assert "package mirror" in section
    assert "package mirror" in (ROOT / "README.md").read_text()


def test_running_never_fails_for_a_missing_program(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert programs.main(["bwrap"]) == 0
    assert "MISSING: bwrap, needed for the sandbox" in capsys.readouterr().err


def test_a_program_that_cannot_be_started_counts_as_missing(machine: Path) -> None:
    executable(machine / "nginx", "exit 127")
    assert programs.find("nginx") is None
    executable(machine / "nginx", "exit 0")
    assert programs.find("nginx") == machine / "nginx"


def test_an_ordinary_user_gets_programs_unpacked_with_their_libraries(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apt-get and dpkg are stand-ins here; `make fresh` uses the real ones."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    archives, root = programs.FOLDER / "archives", programs.UNPACKED
    executable(machine / "apt-get", f'case "$*" in *--download-only*) : > "{archives}/nginx_1.deb";; esac')
    libraries = root / "usr" / "lib" / "x86_64-linux-gnu"
    executable(
        machine / "dpkg",
        f'/bin/mkdir -p "{root}/usr/sbin" "{libraries}" && : > "{libraries}/libx.so.1"\n'
        f'printf \'#!/bin/sh\\necho "$LD_LIBRARY_PATH"\\n\' > "{root}/usr/sbin/nginx"\n'
        f'/bin/chmod 755 "{root}/usr/sbin/nginx"',
    )

    assert programs.main(["--tests", "nginx"]) == 0

    starter = programs.find("nginx")
    assert starter == programs.SCRIPTS / "nginx"
    assert subprocess.check_output([starter], text=True).strip() == str(libraries)


@pytest.mark.parametrize(("known", "path"), [("chromium-headless-shell", "chromium-headless-shell"), ("", "chromium")])
def test_the_browser_without_a_window_is_preferred_where_the_distribution_has_it(
    machine: Path, monkeypatch: pytest.MonkeyPatch, known: str, path: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    archives, folder = programs.FOLDER / "archives", programs.UNPACKED / "usr" / "lib" / "chromium"
    has_it = f'*" {known or "-"} "*|*" chromium "*) : > "{archives}/it.deb"'
    executable(machine / "apt-get", f'case "$*" in {has_it};; *--download-only*) exit 100;; esac')
    executable(
        machine / "dpkg",
        f'/bin/mkdir -p "{folder}" && printf "#!/bin/sh\necho {path}\n" > "{folder}/{path}"\n'
        f'/bin/chmod 755 "{folder}/{path}"',
    )

    assert programs.main(["--tests", "chromium"]) == 0

    starter = programs.find("chromium")
    assert starter == programs.SCRIPTS / "chromium"
    assert subprocess.check_output([starter], text=True).strip() == path


def test_apt_gets_no_terminal() -> None:
    """One that it may not use stops it until its time is over."""
    ours, theirs = os.openpty()
    try:
        asked = "import sys\nfrom scripts.setup import programs\nsys.exit(programs._apt(['sh', '-c', 'test -t 0']))"
        told = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, stdin=theirs, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    assert told.returncode == 0, "apt-get was given the terminal"


@pytest.mark.parametrize("strict", [False, True])
def test_tests_without_their_program_are_reported_together(tmp_path: Path, strict: bool) -> None:
    """Not one by one for a user; as failures in CI and for root."""
    (tmp_path / "conftest.py").write_text(MISSING_TEST.format(strict=strict), encoding="utf-8")
    (tmp_path / "test_it.py").write_text(USERS, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        str(tmp_path),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = subprocess.run(
        [*command, tmp_path], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    if strict:
        assert told.returncode == 1
        assert "1 failed, 1 passed, 2 errors" in told.stdout
    else:
        assert told.returncode == 0
        assert "1 passed, 3 skipped" in told.stdout
        assert "MISSING PROGRAMS" in told.stdout
        assert "2 tests did not run: chromium is missing" in told.stdout
        assert "1 tests did not run: nginx is missing" in told.stdout
        assert told.stdout.count("to install:") == 1
