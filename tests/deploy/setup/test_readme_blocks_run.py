"""Every Python block of the README and of docs/agents.md runs as pasted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runyard.agents.declared import loading
from runyard.base.clock import SystemClock
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from tests.support.in_process import live_server
from tests.support.in_process.live_server import Server

ROOT = Path(__file__).parents[3]
# by page and agent, in the order of the blocks: what the answer says to "hello Ada"
ANSWERS = {
    "README.md": {"greeter": ["Ada", "guestbook_001"], "support": ["OPENAI_API_KEY"]},
    "docs/agents.md": {
        "support": ["Sent ", "20.00 ", "(transfer-customer_17).", "customer_17"],
        "support with a model": ["OPENAI_API_KEY"],
        "clerk": ["OPENAI_API_KEY"],
    },
}
CASES = [(page, number, name) for page, names in ANSWERS.items() for number, name in enumerate(names)]


def blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_there_is_an_answer_for_every_block() -> None:
    assert {page: len(blocks(page)) for page in ANSWERS} == {page: len(names) for page, names in ANSWERS.items()}


@pytest.mark.parametrize(("page", "number", "name"), CASES, ids=[f"{page}-{name}" for page, _, name in CASES])
async def test_a_block_serves_an_agent_that_answers(
    page: str, number: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = tmp_path / f"pasted_{number}.py"
    file.write_text(blocks(page)[number], encoding="utf-8")
    settings = Settings(database_url="sqlite:///unused.db", **live_server.QUICK)
    async with live_server.served(settings, loading.load(file), MemoryStore(SystemClock())) as server:
        run_id = await server.post(name.split()[0], "hello Ada")
        if "request_approval" in blocks(page)[number]:
            await approve(server, run_id)
        said = (await server.ended(run_id)).body.decode()
    for words in ANSWERS[page][name]:  # without a key, the run names the variable
        assert words in said


async def approve(server: Server, run_id: str) -> None:
    approval_id = await server.waiting(run_id)
    decided = await server.http.post(f"/api/approvals/{approval_id}", json={"decision": "approve"})
    assert decided.status_code == 200, decided.text
