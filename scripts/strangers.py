"""Run suites that others wrote beside the project: `make strangers`, see docs/strangers.md.

    python -m scripts.strangers [a2a-tck] [open-responses] [mcp] [aegra] [langgraph-api]

Sources, packages and results go to `.strangers`, which is not committed. Sources come by git at a pinned commit, from
their public place or from a copy that a variable names (`A2A_TCK`, `OPEN_RESPONSES`, `AEGRA`, `LANGGRAPH_API`).
The command fails if the failures or the numbers of a suite differ from those that docs/strangers.md gives for it.
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
STATUSES = ("passed", "skipped", "failed")
PATIENCE = 60.0


class Source(NamedTuple):
    """Where a suite is: its public repository, the commit that is run, and the variable that names a copy."""

    name: str
    url: str
    commit: str
    variable: str


A2A_TCK = Source("a2a-tck", "https://github.com/a2aproject/a2a-tck", "357c4a8", "A2A_TCK")
AEGRA = Source("aegra", "https://github.com/ibbybuilds/aegra", "7eaca0b", "AEGRA")
AEGRA_NEEDS = ("pytest==9.0.2", "pytest-asyncio==1.3.0", "langgraph-sdk==0.4.14")
AEGRA_LEFT_OUT = (  # docs/strangers.md says why
    "manual_auth_tests",
    "multi_instance",
    "test_assistants",
    "test_custom_routes",
    "test_factories",
    "test_store",
    "test_prometheus_metrics.py",
)
AEGRA_SETTINGS = """import os
from types import SimpleNamespace

settings = SimpleNamespace(app=SimpleNamespace(SERVER_URL=os.environ["SERVER_URL"], KEEPALIVE_INTERVAL_SECS=5))
"""
LANGGRAPH_API = Source("langgraph-api", "https://github.com/langchain-ai/langgraphjs", "f8bdf16d4", "LANGGRAPH_API")
LANGGRAPH_API_NEEDS = (
    "@tsconfig/recommended@1.0.10",
    "vitest@4.1.10",
    "wait-port@1.1.0",
    "postgres@3.4.9",
    "@langchain/core@1.2.13",
    "@langchain/langgraph@1.4.18",
    "@langchain/langgraph-sdk@1.12.3",
)
LANGGRAPH_API_URL = "http://localhost:2024"  # in the tests
LANGGRAPH_API_TESTS = (  # docs/strangers.md says what was left out, and why
    "^(threads crud|threads copy|runs |errors|long running|multitasking|RemoteGraph|resumable)|interrupt inside node"
)
OPEN_RESPONSES = Source("open-responses", "https://github.com/openresponses/openresponses", "92c12d9", "OPEN_RESPONSES")


class Outcome(NamedTuple):
    """How many checks passed, failed and were skipped, and the names of those that failed, which may be fewer."""

    passed: int
    failed: int
    skipped: int
    names: Sequence[str]


class Documented(NamedTuple):
    """A suite in docs/strangers.md: the names in its table of failures, and its numbers."""

    names: frozenset[str]
    numbers: str


HEADINGS = {
    "a2a-tck": "A2A: a2a-tck",
    "open-responses": "Open Responses",
    "aegra": "LangGraph's API: aegra",
    "langgraph-api": "LangGraph's API: the server for Node",
}
NUMBERS = re.compile(r"\d+ passed, \d+ failed(?:, \d+ skipped)?")
FAILURES = re.compile(r"^\| failed (?:test|check) \| why \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)


def section(page: str, heading: str) -> str:
    """Return the section of a page with this heading."""
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def documented(page: str, heading: str) -> Documented:
    """Read what a section says about its suite."""
    said = section(page, heading)
    rows, [numbers] = FAILURES.findall(said), NUMBERS.findall(" ".join(said.split()))
    names = [name for row in "\n".join(rows).splitlines() for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    return Documented(frozenset(names), numbers)


def differences(known: Documented, found: Outcome) -> list[str]:
    """Return what the page does not say about an outcome, and what it says that is not true."""
    said = [f"{name}: failed, and is not in its table" for name in found.names if name not in known.names]
    if not found.passed:
        return said  # the suite itself failed: the others did not run
    said += [f"{name}: in its table, and did not fail" for name in sorted(known.names - set(found.names))]
    numbers = f"{found.passed} passed, {found.failed} failed, {found.skipped} skipped"
    return said if numbers.startswith(known.numbers) else [*said, f"the page says: {known.numbers}"]


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


def install(python: Path, wanted: Sequence[str]) -> None:
    """Make the environment of a Python with these packages, if it is missing."""
    environment = python.parents[1]
    if (environment / ".installed").exists():
        return
    run([sys.executable, "-m", "venv", environment], HERE)
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted], HERE)
    (environment / ".installed").touch()


def a2a_tck() -> Outcome:
    """Run the test kit of A2A in a separate environment."""
    folder, python = sources(A2A_TCK), HERE / "a2a-tck-venv" / "bin" / "python"
    install(python, tomllib.loads((folder / "pyproject.toml").read_text())["project"]["dependencies"])
    printed = HERE / "a2a-tck.txt"
    with serving("tests.clients.suites.a2a_tck_server", "/.well-known/agent-card.json") as url:
        run([python, "run_tck.py", "--sut-host", url], folder, printed, PATH=f"{python.parent}:{os.environ['PATH']}")
    return pytest_outcome(printed, "a2a-tck")


def pytest_outcome(printed: Path, name: str) -> Outcome:
    """Read the outcome of a suite from what pytest printed."""
    said = printed.read_text(encoding="utf-8", errors="replace")
    counts = {name: int(number) for number, name in re.findall(r"(\d+) (passed|failed|skipped)\b", said)}
    failed = sorted(set(re.findall(r"(?:FAILED|ERROR) \S+::(test_\w+)", said)))
    if len(failed) == 0 and (counts.get("failed") or not counts.get("passed")):
        failed = [f"{counts.get('failed', 'all')} tests of {name}"]
    return Outcome(counts.get("passed", 0), counts.get("failed", 0), counts.get("skipped", 0), failed)


def install_for_node(folder: Path, name: str, wanted: Sequence[str]) -> None:
    """Give a folder these packages of npm, if it has none."""
    if (folder / "node_modules").exists():
        return
    packages = HERE / f"{name}-packages"
    packages.mkdir(exist_ok=True)
    run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", packages, *wanted], HERE)
    (folder / "node_modules").symlink_to(packages / "node_modules")


def open_responses() -> Outcome:
    """Run the compliance suite of Open Responses on Node."""
    folder = sources(OPEN_RESPONSES)
    install_for_node(folder, "open-responses", [ZOD])
    bundle, printed = HERE / "open-responses.mjs", HERE / "open-responses.json"
    options = ("--bundle", "--platform=node", "--format=esm", "--log-level=error")
    run([ESBUILD, "bin/compliance-test.ts", *options, f"--outfile={bundle}"], folder)
    with serving("tests.clients.suites.open_responses_server", "/health") as url:
        run(["node", bundle, "-u", f"{url}/v1", "-k", "none", "-m", "assistant", "--json"], HERE, printed)
    found = json.loads(printed.read_text(encoding="utf-8"))
    failed = [each["id"] for each in found["results"] if each["status"] == "failed"]
    return Outcome(found["summary"]["passed"], len(failed), found["summary"].get("skipped", 0), failed)


def aegra() -> Outcome:
    """Run the end-to-end tests of aegra. Of its settings they need the address of the server, which a module has."""
    folder, python, stand_in = (
        sources(AEGRA) / "libs" / "aegra-api",
        HERE / "aegra-venv" / "bin" / "python",
        HERE / "aegra-settings",
    )
    install(python, AEGRA_NEEDS)
    (stand_in / "aegra_api").mkdir(parents=True, exist_ok=True)
    (stand_in / "aegra_api" / "settings.py").write_text(AEGRA_SETTINGS, encoding="utf-8")
    printed, tests = HERE / "aegra.txt", Path("tests", "e2e")
    options = [
        "-q",
        "-rfEs",
        "--tb=short",
        "-p",
        "no:cacheprovider",
        "--noconftest",
        *(f"--ignore={tests / each}" for each in AEGRA_LEFT_OUT),
    ]
    with serving("tests.clients.suites.aegra_server", "/langgraph/ok") as url:
        variables = {"SERVER_URL": f"{url}/langgraph", "PYTHONPATH": f"{stand_in}:{folder}"}
        run([python, "-m", "pytest", *options, tests], folder, printed, **variables)
    return pytest_outcome(printed, "aegra")


def langgraph_api() -> Outcome:
    """Run the API tests of LangGraph's server for Node that are about routes of the face: a copy of them with
    the address of the server."""
    whole = sources(LANGGRAPH_API)
    install_for_node(whole, "langgraph-api", LANGGRAPH_API_NEEDS)
    folder, vitest = whole / "libs" / "langgraph-api", whole / "node_modules" / ".bin" / "vitest"
    report = HERE / "langgraph-api.json"
    report.unlink(missing_ok=True)
    options = ["--reporter=json", f"--outputFile={report}", "-t", LANGGRAPH_API_TESTS]
    tests = (folder / "tests" / "api.test.mts").read_text(encoding="utf-8")
    with serving("tests.clients.suites.langgraph_api_server", "/ok") as url:
        copy = folder / "tests" / "api.copy.test.mts"
        copy.write_text(tests.replace(LANGGRAPH_API_URL, url), encoding="utf-8")
        run([vitest, "run", copy.relative_to(folder), *options], folder, HERE / "langgraph-api.txt", CI="")
    found = [each for file in json.loads(report.read_text())["testResults"] for each in file["assertionResults"]]
    by_status = {
        status: [each["fullName"].strip() for each in found if each["status"] == status] for status in STATUSES
    }
    failed = by_status["failed"] or ([] if by_status["passed"] else ["all tests of langgraph-api"])
    return Outcome(len(by_status["passed"]), len(failed), len(by_status["skipped"]), failed)


def mcp() -> Outcome:
    """Run the conformance suite of MCP by its test, which compares its failures with the page."""
    test = "tests/clients/suites/test_mcp_conformance.py"
    code = run([sys.executable, "-m", "pytest", "-q", "-n", "0", test], ROOT, HERE / "mcp.txt")
    return Outcome(int(code == 0), int(code != 0), 0, [] if code == 0 else [test])


SUITES: Mapping[str, Callable[[], Outcome]] = {
    "a2a-tck": a2a_tck,
    "open-responses": open_responses,
    "mcp": mcp,
    "aegra": aegra,
    "langgraph-api": langgraph_api,
}


def main(names: Sequence[str]) -> int:
    HERE.mkdir(exist_ok=True)
    page, differ = PAGE.read_text(encoding="utf-8"), list[str]()
    for name in names or SUITES:
        print(f"==> {name}", flush=True)
        found = SUITES[name]()
        print(f"{name}: {found.passed} passed, {found.failed} failed, {found.skipped} skipped")
        said = differences(documented(page, HEADINGS[name]), found) if name in HEADINGS else found.names
        print("".join(f"  {each}\n" for each in said), end="")
        differ += said
    print(f"The output of the suites is in {HERE.relative_to(ROOT)}.")
    if differ:
        print("The outcome differs from docs/strangers.md. Correct the server, or the page.")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
