"""Every kind of agent says what it does, what to ask it, and whether the page offers it for chats."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from agents import Agent as OpenAiAgent
from langgraph.graph import START, MessagesState, StateGraph
from pydantic_ai import Agent as PydanticAgent

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent, plan, scripted
from runyard.agents.declared.nodes import Node
from runyard.errors import Invalid


async def nothing(ctx: Context) -> None: ...


def of_pydantic_ai(**options: Any) -> Agent:
    return runyard.pydantic_ai(PydanticAgent(name="a"), **options)


def of_openai(**options: Any) -> Agent:
    return runyard.openai_agents(OpenAiAgent(name="a"), **options)


async def answered(state: MessagesState) -> dict[str, Any]:
    return {}


def of_langgraph(**options: Any) -> Agent:
    return runyard.langgraph(
        "a", StateGraph(MessagesState).add_node(answered).add_edge(START, "answered").compile(), **options
    )


KINDS: dict[str, Callable[..., Agent]] = {
    "model": partial(Agent, "a", model="openai/gpt-5-mini"),
    "python": lambda **options: agent(name="a", **options)(nothing),
    "plan": partial(plan, "a", [Node("A", nothing)]),
    "remote": partial(runyard.remote, "a", url="https://a.example", task_type="T"),
    "claude": partial(runyard.claude, "a", model="claude-sonnet-5"),
    "langgraph": of_langgraph,
    "pydantic_ai": of_pydantic_ai,
    "openai_agents": of_openai,
    "scripted": partial(scripted, "a", [{"token": "a"}]),
}
TASK_TYPES = sorted(KINDS.keys() - {"remote", "scripted"})


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_agent_describes_itself(kind: str) -> None:
    made = KINDS[kind](description="Weighs bags.", samples=["Weigh my bag"], chat=True)
    hidden = KINDS[kind](chat=False)

    assert (made.kind, made.description, made.samples, made.chat) == (kind, "Weighs bags.", ("Weigh my bag",), True)
    assert (hidden.description, hidden.samples, hidden.chat) == ("", (), False)
    with pytest.raises(Invalid, match="samples"):
        KINDS[kind](samples="Weigh my bag")


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_is_offered_for_chats_unless_it_does_tasks(kind: str) -> None:
    assert KINDS[kind]().chat == (kind not in ("plan", "remote"))


@pytest.mark.parametrize("kind", TASK_TYPES)
def test_an_agent_with_a_task_type_is_offered_for_chats_only_if_it_says_so(kind: str) -> None:
    assert not KINDS[kind](task_type="WEIGH").chat
    assert KINDS[kind](task_type="WEIGH", chat=True).chat
