"""The conformance suite of MCP finds only the failures that docs/strangers.md names, each with its reason."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path

from scripts.strangers import PAGE, section
from tests.clients.conftest import ENVIRONMENT, MISSING
from tests.clients.suites.mcp_fixtures import serving
from tests.support.eventually import PATIENCE

SUITE = ENVIRONMENT / "node" / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
RUNS = {
    "2025-11-25": ("--suite", "all", "--spec-version", "2025-11-25"),
    "2026-07-28": ("--suite", "all", "--spec-version", "2026-07-28"),
    "tasks": ("--suite", "pending"),
}
RESULTS = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
ROW = re.compile(r"^\| (`.+`) \| (all|`.+`) \| (.+) \|$", re.MULTILINE)
Check = tuple[str, str]


def documented() -> dict[str, set[str]]:
    """The checks that may fail by scenario; `all` stands for each of them."""
    found: dict[str, set[str]] = {}
    for scenarios, checks, _ in ROW.findall(section(PAGE.read_text(encoding="utf-8"), "MCP conformance")):
        for scenario in re.findall(r"`([^`]+)`", scenarios):
            found.setdefault(scenario, set()).update(re.findall(r"`([^`]+)`", checks) or {checks})
    return found


async def _checks(url: str, run: str, folder: Path) -> list[tuple[Check, str]]:
    """Run a part of the suite. Each check of it with its status."""
    process = await asyncio.create_subprocess_exec(
        "node",
        str(SUITE),
        "server",
        *("--url", url, "-o", str(folder / run), *RUNS[run]),
        env={"PATH": os.environ["PATH"]},
        cwd=folder,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    found = []
    for path in (folder / run).glob("*/checks.json"):
        match = RESULTS.fullmatch(path.parent.name)
        assert match is not None, path
        found += [((match[1], each["id"]), each["status"]) for each in json.loads(path.read_text("utf-8"))]
    return found


async def test_every_failure_of_the_suite_is_known_and_has_a_reason(tmp_path: Path) -> None:
    assert SUITE.exists(), MISSING
    async with serving(tmp_path) as url:
        found = [check for run in RUNS for check in await _checks(url, run, tmp_path)]
    passed = {check for check, status in found if status == "SUCCESS"}
    failed = {check for check, status in found if status == "FAILURE"}
    known = documented()
    unknown = {check for check in failed if not {"all", check[1]} & known.get(check[0], set())}
    assert unknown == set()
    assert known.keys() == {scenario for scenario, _ in failed}, "what passes now is not named as a failure"
    assert {(scenario, check) for scenario in known for check in known[scenario] - {"all"}} <= failed
    numbers = f"{len(passed)} different checks passed, {len(failed)} failed."
    assert numbers in section(PAGE.read_text(encoding="utf-8"), "MCP conformance")
