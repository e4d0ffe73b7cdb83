"""The examples of docs/frameworks run."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import agents
import pytest
from openai import AsyncOpenAI
from pydantic_ai.models.test import TestModel

import runyard
from runyard.testing import run_agent, run_agent_sync
from tests.agents.frameworks.framework_agents import crashed_at_every_event
from tests.support.fakes.fake_chat_api import fake_chat_api

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "frameworks"


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


def own_framework() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / "own_framework.py"))


def test_the_example_of_another_framework_is_the_one_of_its_page() -> None:
    page = (FOLDER / "your-own.md").read_text("utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert code in (ROOT / "examples" / "own_framework.py").read_text("utf-8")
    assert len(code.splitlines()) <= 40
    result = run_agent_sync(own_framework()["support"], "Refund A-17", decisions={"refund": True})
    assert result.text == "One moment. Order A-17: paid back 9.5."
    assert result.outputs == {"answer": "Order A-17: paid back 9.5."}
    refused = run_agent_sync(own_framework()["support"], "Refund A-17", decisions={"refund": False})
    assert refused.text == "One moment. Order A-17: A person said no. ."


async def test_after_a_crash_at_any_event_the_other_framework_repeats_nothing() -> None:
    def made() -> tuple[runyard.Agent, list[str]]:
        did: list[str] = []
        names = own_framework()

        @runyard.tool(effects="once", approval="always")
        async def refund(order: str, amount: float) -> str:
            did.append("refund")
            return f"paid back {amount}"

        async def model(messages: Any, say: Any) -> Any:
            did.append("think")
            return await names["model"](messages, say)

        return names["bring"]("support", model, [names["find_order"], refund]), did

    await crashed_at_every_event(made, once="refund", text="Refund A-17")
