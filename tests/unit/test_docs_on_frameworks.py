"""The examples of docs/frameworks run."""

import json
import re
from pathlib import Path
from typing import Any

import agents
import pytest
from openai import AsyncOpenAI
from pydantic_ai.models.test import TestModel

from runyard.testing import run_agent, run_agent_sync
from tests.support.fake_chat_api import fake_chat_api

FOLDER = Path(__file__).parents[2] / "docs" / "frameworks"


def example(page: str, number: int = 0) -> dict[str, Any]:
    text = (FOLDER / page).read_text(encoding="utf-8")
    code = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[number]
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, page, "exec", dont_inherit=True), names)
    return names


def test_the_example_of_pydantic_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    names = example("pydantic-ai.md")
    model = TestModel(custom_output_args={"order": "A-17", "amount": 9.5})
    with names["clerk"].override(model=model):
        result = run_agent_sync(names["support"], "Refund A-17", decisions={"refund": True})
    assert result.answer_as(names["Receipt"]) == names["Receipt"](order="A-17", amount=9.5)
    assert [call.output for call in result.tool_calls] == [{"order": "a", "amount": 9.5}, "paid back"]


async def test_the_example_of_openai_agents() -> None:
    names = example("openai-agents.md")
    turns = [
        {"calls": [["find_order", {"order": "A-17"}]]},
        {"calls": [["transfer_to_billing", {}]]},
        {"calls": [["refund", {"order": "A-17", "amount": 9.5}]]},
        {"text": ['{"order": "A-17", "amount": 9.5}']},
    ]
    with fake_chat_api() as api:
        client = AsyncOpenAI(base_url=api.url, api_key="none")
        for agent in (names["triage"], names["billing"]):
            agent.model = agents.OpenAIChatCompletionsModel("gpt-5-mini", client)
        result = await run_agent(names["support"], json.dumps(turns), decisions={"refund": True})
    assert result.answer_as(names["Receipt"]) == names["Receipt"](order="A-17", amount=9.5)
    assert [call.output for call in result.tool_calls] == [{"order": "A-17", "amount": 9.5}, "paid back"]
