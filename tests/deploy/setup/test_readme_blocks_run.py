"""Every Python block of the README runs as pasted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runyard.agents.declared import loading
from runyard.base.clock import SystemClock
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from tests.support.in_process import live_server

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
NAMES = [re.findall(r"greeter|support", block)[0] for block in BLOCKS]


def test_there_is_a_test_for_every_block() -> None:
    assert NAMES == ["greeter", "support"]


@pytest.mark.parametrize(("block", "name"), list(zip(BLOCKS, NAMES, strict=True)), ids=NAMES)
async def test_a_block_serves_an_agent_that_answers(
    block: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = tmp_path / f"readme_{name}.py"
    file.write_text(block, encoding="utf-8")
    settings = Settings(database_url="sqlite:///unused.db", **live_server.QUICK)
    async with live_server.served(settings, loading.load(file), MemoryStore(SystemClock())) as server:
        run_id = await server.post(name, "hello Ada")
        said = (await server.ended(run_id)).body.decode()
    if name == "greeter":
        assert "Ada" in said
        assert "guestbook_001" in said
    else:
        assert "OPENAI_API_KEY" in said, "without a key, the run names the variable"
