"""Installing: `make run` installs only the dependencies of the server, by uv, from pip's index."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts.setup import install, node

ROOT = Path(__file__).parents[3]


def dry(target: str, venv: Path) -> str:
    """The commands that `make` would run without an environment."""
    command = ["make", "--dry-run", "--always-make", target, f"VENV={venv}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_running_installs_what_running_needs_and_testing_the_rest(tmp_path: Path) -> None:
    run, test = dry(f"{tmp_path}/.installed", tmp_path), dry("setup", tmp_path)
    assert "scripts.setup.install requirements/runtime.txt --project" in run
    assert "requirements/dev.txt" not in run
    assert "scripts.setup.install requirements/dev.txt" in test
    prerequisites = re.search(r"^run: (.*?) ##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert prerequisites is not None
    assert prerequisites[1] == "$(STAMP) $(SANDBOX) page-if-possible"


def test_uv_looks_where_pip_is_told_to_look() -> None:
    told = (
        ":env:.find-links='/srv/wheels'\n"
        "global.index-url='https://one.test/simple'\n"
        "global.find-links='/srv/other'\n"
        "install.extra-index-url='https://two.test/simple https://three.test/simple'\n"
        "download.index-url='https://not.test/simple'\n"
    )
    configuration = install.read_pip_configuration(told)
    assert install.index_options(configuration) == [
        *("--default-index", "https://one.test/simple"),
        *("--index", "https://two.test/simple", "--index", "https://three.test/simple"),
        *("-f", "/srv/wheels", "--index-strategy", "unsafe-best-match"),
    ]
    assert install.index_options({}) == []


def test_uv_trusts_the_authorities_of_the_system_or_those_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.touch()
    monkeypatch.setattr(install, "_system_bundle", lambda: str(bundle))
    assert install.uv_environment({})["SSL_CERT_FILE"] == str(bundle)
    assert install.uv_environment({"SSL_CERT_FILE": "/mine"})["SSL_CERT_FILE"] == "/mine"


def test_pip_installs_where_uv_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text("one==1 \\\n    --hash=sha256:0\n", encoding="utf-8")
    calls: list[str] = []

    def run(command: list[str], _: object) -> None:
        calls.append("uv" if command[0] == str(install.UV) else "pip")
        if calls == ["uv"]:
            raise subprocess.CalledProcessError(2, command)

    monkeypatch.setattr(install, "_has_uv", lambda: True)
    monkeypatch.setattr(install, "_run", run)
    install.install(lock)
    assert calls == ["uv", "pip"]


@pytest.mark.parametrize("lock", ["build", "node", "runtime", "dev"])
def test_every_installed_package_is_pinned_by_hash(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    pinned = re.findall(r"^[a-z0-9][^\n]*\\\n    --hash=sha256:", text, re.M | re.I)
    assert len(pinned) == len(install.PINNED.findall(text)) > 0


@pytest.mark.parametrize(
    ("said", "is_enough"), [("18.20.4", False), ("20.20.2", False), ("22.20.0", True), ("", False)]
)
def test_an_old_node_is_not_used(said: str, is_enough: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("node", "npm"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho v{said}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(node, "SCRIPTS", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert node.find() == (tmp_path / "node" if is_enough else None)


def test_cleaning_leaves_nothing_but_data_and_settings(tmp_path: Path) -> None:
    kept = {".runyard/", ".env"}
    for name in ("Makefile", ".gitignore"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    made = re.findall(r"^([\w.*\[\]/-]+)$", (ROOT / ".gitignore").read_text(encoding="utf-8"), re.M)
    ignored = [name for name in made if name not in {".idea/", ".vscode/", "*.swp", ".DS_Store"}]
    places = ["", "examples/office/", "tests/unit/", "src/runyard/"]
    for name in ignored:
        for place in places if name in ("__pycache__/", "*.py[cod]", "*.egg-info/") else [""]:
            path = tmp_path / place / name.replace("*", "some").replace("[cod]", "c").rstrip("/")
            path = path / "file" if name.endswith("/") else path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    (tmp_path / ".runyard" / "__pycache__").mkdir()
    (tmp_path / ".runyard" / "__pycache__" / "file").touch()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)

    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)

    told = subprocess.check_output(["git", "status", "--ignored", "--porcelain"], cwd=tmp_path, text=True)
    assert {line[3:] for line in told.splitlines() if line.startswith("!!")} == kept
    assert os.path.exists(tmp_path / ".runyard" / "__pycache__" / "file")
