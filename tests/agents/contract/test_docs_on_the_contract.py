"""The blocks of docs/contract.md run on the demo and do what the page says."""

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from runyard import demo
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import app_of
from runyard.base.clock import SystemClock
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from tests.support.eventually import PATIENCE
from tests.support.in_process import live_server
from tests.support.session.missing_programs import need

PAGE = (Path(__file__).parents[3] / "docs" / "contract.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PROGRAMS = Path(sys.executable).parent


@pytest.mark.flow
async def test_the_commands_work() -> None:
    settings = Settings(database_url="sqlite:///unused.db", **live_server.QUICK)
    async with live_server.served(settings, app_of(demo), MemoryStore(SystemClock())) as server:
        said = [await _shell(text, server.port) for language, text in BLOCKS if language == "sh"]
    done, checked = said
    assert done.count('"papers":[{') == 2
    assert "event: started\n" in done
    assert done.count("event: final\n") == 1
    assert checked.count("  conforms") == 2


async def _shell(text: str, port: int) -> str:
    need("curl")
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-euo",
        "pipefail",
        "-c",
        text.replace("localhost:8000", f"127.0.0.1:{port}"),
        env={**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, out.decode()
    return out.decode()


def test_the_declarations_work() -> None:
    declared: dict[str, Any] = {}
    for language, text in BLOCKS:
        if language == "python":
            exec(compile(text, "docs/contract.md", "exec"), declared)
    kinds = {value.name: value.kind for value in declared.values() if isinstance(value, Agent)}
    assert kinds == {"counter": "python", "literature": "remote", "pipeline": "plan"}
