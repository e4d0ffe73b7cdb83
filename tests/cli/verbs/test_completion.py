"""Completion in a real bash, zsh and fish: commands, options and the ids of a database,
also after `--install-completion`."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from runyard.base.clock import SystemClock
from runyard.domain.api_key import LOCAL
from runyard.stores.sqlite.store import SqliteStore
from tests.cli.cli_process import RUNYARD, environment, runyard, serving
from tests.cli.terminal import program_in_terminal
from tests.store.factories import a_post, waiting
from tests.support.eventually import PATIENCE
from tests.support.session.missing_programs import need

# what bash itself does after a tab, with the words of a line
PRESS_TAB = """
COMP_WORDS=(runyard "$@"); COMP_CWORD=$#; COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
[[ $IS_OLD ]] || compopt() { echo "compopt $1 $2"; }
$(complete -p runyard | sed -E 's/.*-F ([^ ]+) .*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(folder: Path, *words: str, start: str, url: str = "http://127.0.0.1:9") -> list[str]:
    env = environment(RUNYARD_URL=url, PATH=f"{RUNYARD.parent}:/usr/bin:/bin", HOME=str(folder))
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{start}\n{PRESS_TAB}", "bash", *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return done.stdout.split("\n")[:-1]


@pytest.fixture
def run_id(tmp_path: Path) -> str:
    """A run in the database of the folder."""

    async def fill() -> str:
        store = SqliteStore(tmp_path / ".runyard" / "runyard.db", SystemClock())
        await store.open()
        run, _ = await waiting(store, a_post(owner=LOCAL, agent="any*"))
        await store.close()
        return run.id

    return asyncio.run(fill())


def test_bash_completes_commands_options_files_and_run_ids(tmp_path: Path, run_id: str) -> None:
    printed = 'eval "$(runyard completion bash)"'
    assert offered(tmp_path, "runs", "sh", start=printed) == ["show"]
    for typed, whole in ((run_id[:4], run_id), (run_id[-8:-2], run_id[-8:])):
        assert offered(tmp_path, "runs", "show", typed, start=f"shopt -s nullglob\n{printed}") == [whole]
    assert offered(tmp_path, "backup", "", start=printed) == ["compopt -o default", ""]
    (tmp_path / "a copy.db").touch()
    old = f"IS_OLD=yes; enable -n mapfile compopt; {printed}"  # bash 3.2, which macOS has
    assert offered(tmp_path, "runs", "sh", start=old) == ["show"]
    assert offered(tmp_path, "backup", "a", start=old) == ["a copy.db"]
    env = {"HOME": str(tmp_path), "SHELL": "/bin/bash", "XDG_CONFIG_HOME": ""}
    for _ in range(2):
        installed = runyard(tmp_path, "--install-completion", env=env)
        assert installed.returncode == 0, installed.stderr
    assert (tmp_path / ".bashrc").read_text().count("completion of runyard") == 1, "it is added once"
    assert offered(tmp_path, "runs", "list", "--st", start=". ~/.bashrc") == ["--status"]
    unknown = runyard(tmp_path, "--install-completion", env=env | {"SHELL": "/bin/tcsh"})
    assert (unknown.returncode, unknown.stdout) == (2, "")


def installed(folder: Path, shell: str) -> dict[str, str]:
    """The environment of a person with this shell who has installed completion."""
    path = f"{RUNYARD.parent}:/usr/bin:/bin"
    env = environment(
        RUNYARD_URL="http://127.0.0.1:9", PATH=path, HOME=str(folder), SHELL=f"/bin/{shell}", TERM="vt100"
    )
    done = runyard(folder, "--install-completion", env=env | {"XDG_CONFIG_HOME": ""})
    assert done.returncode == 0, done.stderr
    return env


def test_zsh_completes_commands_options_and_run_ids(tmp_path: Path, run_id: str) -> None:
    env = installed(tmp_path, "zsh") | {"PS1": "ready> ", "TERM": "xterm"}
    with program_in_terminal(tmp_path, need("zsh"), "-i", env=env) as person:
        person.until("ready> ")
        for typed, completed in (
            ("runyard runs sh", "runs show"),
            ("runyard runs list --st", "list --status"),
            (f"runyard runs show {run_id[:4]}", f"show {run_id}"),
            (f"runyard runs show {run_id[-8:-2]}", f"show {run_id[-8:]}"),
        ):
            person.type(f"{typed}\t")
            person.until(completed)
            person.type("\x15")  # deletes the line


def test_fish_completes_commands_options_files_and_run_ids(tmp_path: Path, run_id: str) -> None:
    env = installed(tmp_path, "fish")
    (tmp_path / "copy.db").touch()

    def completed(line: str) -> list[str]:
        asked = f"complete --do-complete '{line}'"
        done = subprocess.run(
            [need("fish"), "-c", asked],
            cwd=tmp_path,
            env=env,
            timeout=PATIENCE,
            check=True,
            capture_output=True,
            text=True,
        )
        return [offer.split("\t")[0] for offer in done.stdout.splitlines()]

    assert completed("runyard runs sh") == ["show"]
    assert completed("runyard runs list --st") == ["--status"]
    assert completed(f"runyard runs show {run_id[:4]}") == [run_id]
    assert completed(f"runyard runs show {run_id[-8:-2]}") == [run_id[-8:]]
    assert completed("runyard backup co") == ["copy.db"]


@pytest.mark.flow
def test_agents_come_from_the_server(tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        offers = runyard(tmp_path, "__complete", "chat", "cv", env={"RUNYARD_URL": url})
    assert [line.split("\t")[0] for line in offers.stdout.splitlines()] == ["cv-screener"]
