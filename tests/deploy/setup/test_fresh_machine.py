"""`make fresh`: what it takes over from the host, what it refuses, and its table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.setup import fresh

ROOT = Path(__file__).parents[3]


def test_only_machine_wide_configuration_is_copied_and_only_what_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, machine = tmp_path / "host", tmp_path / "machine"
    (host / "certificates").mkdir(parents=True)
    (host / "certificates" / "own.crt").write_text("a certificate", encoding="utf-8")
    (host / "certificates" / "notes.txt").write_text("not one", encoding="utf-8")
    (host / "pip.conf").write_text("[global]", encoding="utf-8")
    (machine / str(host).lstrip("/")).mkdir(parents=True)
    monkeypatch.setattr(fresh, "COPIED", (f"{host}/pip.conf", f"{host}/npmrc"))
    monkeypatch.setattr(fresh, "COPIED_FOLDERS", {f"{host}/certificates": "*.crt", f"{host}/none": "*"})

    fresh.copy_configuration(machine)

    copied = sorted(str(path.relative_to(machine)) for path in machine.rglob("*") if path.is_file())
    assert copied == [f"{host}/certificates/own.crt"[1:], f"{host}/pip.conf"[1:]]


def test_no_configuration_of_a_user_is_copied() -> None:
    places = [*fresh.COPIED, *fresh.COPIED_FOLDERS]
    assert all(place.startswith(("/etc/", "/usr/local/share/")) for place in places)


def test_an_unknown_part_or_person_is_refused() -> None:
    command = [sys.executable, "-m", "scripts.setup.fresh", "--parts", "tset", "--who", "admin"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert "unknown: admin tset" in told.stderr


def test_the_table_has_a_line_for_every_part() -> None:
    rows = [fresh.Row("root", "run", 31.04, 22.5, "passed"), fresh.Row("user", "make test", 9, 8, "FAILED, see x")]
    assert fresh.table(rows).splitlines()[2:] == [
        "| root | run | 31.0 | 22.5 | passed |",
        "| user | make test | 9.0 | 8.0 | FAILED, see x |",
    ]
