"""Run suites that others wrote beside the project: `make strangers`, see docs/strangers.md.

    python -m scripts.strangers [a2a-tck] [open-responses] [mcp]

Sources, packages and results go to `.strangers`, which is not committed. Sources come by git at a pinned commit, from
their public place or from a copy that a variable names (`A2A_TCK`, `OPEN_RESPONSES`). A failure that docs/strangers.md
does not name makes the command fail.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
HERE = ROOT / ".strangers"
PAGE = ROOT / "docs" / "strangers.md"
ESBUILD = ROOT / "ui" / "node_modules" / ".bin" / "esbuild"
ZOD = "zod@3.25.76"  # the range of the suite's package.json begins there
PATIENCE = 60.0


class Source(NamedTuple):
    """Where a suite is: its public repository, the commit that is run, and the variable that names a copy."""

    name: str
    url: str
    commit: str
    variable: str


A2A_TCK = Source("a2a-tck", "https://github.com/a2aproject/a2a-tck", "357c4a8", "A2A_TCK")
OPEN_RESPONSES = Source("open-responses", "https://github.com/openresponses/openresponses", "92c12d9", "OPEN_RESPONSES")


class Outcome(NamedTuple):
    """How many checks passed and were skipped, and the names of those that failed."""

    passed: int
    skipped: int
    failed: Sequence[str]


def run(command: Sequence[str | Path], folder: Path, into: Path | None = None, **variables: str) -> int:
    """Run a command. Its output goes to the terminal, or to a file."""
    environment = {**os.environ, **variables}
    if into is None:
        return subprocess.run([str(each) for each in command], cwd=folder, env=environment, check=True).returncode
    with into.open("wb") as file:
        done = subprocess.run([str(each) for each in command], cwd=folder, env=environment, stdout=file, check=False)
    return done.returncode


def sources(source: Source) -> Path:
    """Return a folder with the pinned sources of a suite, fetched if they are missing."""
    folder, given = HERE / source.name, os.environ.get(source.variable)
    if (folder / ".git").exists():
        found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True)
        if found.stdout.startswith(source.commit):
            return folder
        shutil.rmtree(folder)
    run(["git", "clone", "--quiet", "--no-checkout", given or source.url, folder], HERE)
    run(["git", "checkout", "--quiet", source.commit], folder)
    return folder


@contextmanager
def serving(module: str, path: str) -> Iterator[str]:
    """Start a server of `tests/clients` on a free port, and yield its address once `path` answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen([sys.executable, "-m", module, str(port)], cwd=ROOT)
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(url + path):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{module} did not start.")
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def a2a_tck() -> Outcome:
    """Run the test kit of A2A in an environment of its own."""
    folder, environment = sources(A2A_TCK), HERE / "a2a-tck-venv"
    python = environment / "bin" / "python"
    if not (environment / ".installed").exists():
        wanted = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["dependencies"]
        run([sys.executable, "-m", "venv", environment], HERE)
        run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted], HERE)
        (environment / ".installed").touch()
    printed = HERE / "a2a-tck.txt"
    with serving("tests.clients.a2a_tck_server", "/.well-known/agent-card.json") as url:
        run([python, "run_tck.py", "--sut-host", url], folder, printed, PATH=f"{python.parent}:{os.environ['PATH']}")
    said = printed.read_text(encoding="utf-8", errors="replace")
    counts = {name: int(number) for number, name in re.findall(r"(\d+) (passed|failed|skipped)\b", said)}
    failed = sorted(set(re.findall(r"(?:FAILED|ERROR) \S+::(test_\w+)", said)))
    if len(failed) == 0 and counts.get("failed"):
        failed = [f"{counts['failed']} tests of a2a-tck"]
    return Outcome(counts.get("passed", 0), counts.get("skipped", 0), failed)


def open_responses() -> Outcome:
    """Run the compliance suite of Open Responses on Node."""
    folder = sources(OPEN_RESPONSES)
    if not (folder / "node_modules" / "zod").exists():
        packages = HERE / "open-responses-packages"
        packages.mkdir(exist_ok=True)
        run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", packages, ZOD], HERE)
        (folder / "node_modules").symlink_to(packages / "node_modules")
    bundle, printed = HERE / "open-responses.mjs", HERE / "open-responses.json"
    options = ("--bundle", "--platform=node", "--format=esm", "--log-level=error")
    run([ESBUILD, "bin/compliance-test.ts", *options, f"--outfile={bundle}"], folder)
    with serving("tests.clients.open_responses_server", "/health") as url:
        run(["node", bundle, "-u", f"{url}/v1", "-k", "none", "-m", "assistant", "--json"], HERE, printed)
    found = json.loads(printed.read_text(encoding="utf-8"))
    failed = [each["id"] for each in found["results"] if each["status"] == "failed"]
    return Outcome(found["summary"]["passed"], found["summary"].get("skipped", 0), failed)


def mcp() -> Outcome:
    """Run the conformance suite of MCP, which the tests run too: they know which failures are named."""
    code = run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "tests/clients/test_mcp_conformance.py"],
        ROOT,
        HERE / "mcp.txt",
    )
    return Outcome(int(code == 0), 0, [] if code == 0 else ["tests/clients/test_mcp_conformance.py"])


SUITES: Mapping[str, Callable[[], Outcome]] = {"a2a-tck": a2a_tck, "open-responses": open_responses, "mcp": mcp}


def main(names: Sequence[str]) -> int:
    HERE.mkdir(exist_ok=True)
    page, unknown = PAGE.read_text(encoding="utf-8"), list[str]()
    for name in names or SUITES:
        print(f"==> {name}", flush=True)
        found = SUITES[name]()
        print(f"{name}: {found.passed} passed, {len(found.failed)} failed, {found.skipped} skipped")
        for check in found.failed:
            is_named = f"`{check}`" in page
            print(f"  {check}{'' if is_named else ': not in docs/strangers.md'}")
            unknown += [] if is_named else [check]
    print(f"What the suites printed is in {HERE.relative_to(ROOT)}.")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
