"""The assistant of a small shop, on a scripted model.

It thinks, calls two tools in parallel, recovers from a failed call, and requests approval before it pays a refund or
runs code. Its turns are a function of the conversation, so it needs no key and no network.

Try "I want my money back for A-1001", and "What is the average price of your goods?"."""

import re
from collections.abc import Mapping
from typing import Any

from runyard.agents.declared.agent import Agent
from runyard.agents.tools.builtins.code import run_python
from runyard.agents.tools.tool import tool
from runyard.errors import ToolFailed
from runyard.models.model import Conversation

_ORDERS: dict[str, dict[str, Any]] = {
    "A-1001": {"item": "tea pot", "price": 38.50, "delivered_days_ago": 6},
    "A-1002": {"item": "desk lamp", "price": 72.00, "delivered_days_ago": 41},
}
_POLICIES = {
    "returns": "Goods can be returned within 30 days of delivery.",
    "shipping": "Orders are shipped within two days.",
}
_ORDER = re.compile(r"[A-Z]-\d{4}")
_SUM = re.compile(r"\b(average|calculate|compute|mean|total)\b", re.IGNORECASE)


@tool(effects="none")
async def find_order(order: str) -> dict[str, Any]:
    """Look up an order by its number, such as A-1001."""
    if order not in _ORDERS:
        raise ToolFailed(f"There is no such order; there are {' and '.join(_ORDERS)}.")
    return {"order": order, **_ORDERS[order]}


@tool(effects="none")
async def read_policy(topic: str) -> str:
    """Read one of the shop's policies."""
    if topic not in _POLICIES:
        raise ToolFailed(f"There is no such policy; there are {' and '.join(_POLICIES)}.")
    return _POLICIES[topic]


@tool(effects="once", approval="always")
async def refund(order: str, amount: float) -> dict[str, Any]:
    """Refund the price of an order. A person must approve it."""
    return {"refund": f"R-{order}", "amount": amount}


def _think(conversation: Conversation) -> Mapping[str, Any]:
    """Return the next turn for the last question and the tool results so far."""
    place = max(place for place, message in enumerate(conversation) if message["role"] == "user")
    question = str(conversation[place]["content"])
    results = [str(message["content"]) for message in conversation[place:] if message["role"] == "tool"]
    named = _ORDER.search(question)
    if named is None and _SUM.search(question):
        return _calculate(results)
    return _look_into(named.group() if named else "A-1001", results)


def _calculate(results: list[str]) -> Mapping[str, Any]:
    """Return the next turn for a calculation, which a Python program does."""
    match results:
        case []:
            code = (
                "from statistics import mean\n"
                f"prices = {[order['price'] for order in _ORDERS.values()]}\n"
                "for price in prices:\n    print(f'{price:8.2f}', flush=True)\n"
                "print(f'{mean(prices):8.2f} on average')\n"
            )
            return {
                "thinking": "I had better not do sums in my head. A few lines of Python will.",
                "calls": [{"tool": "run_python", "input": {"code": code}}],
            }
        case [result] if found := re.search(r"([\d.]+) on average", result):
            return {"text": _words(f"Our goods cost ${found[1]} on average."), "every_ms": 10}
        case _:
            return {"text": _words(f"I could not run the program, so I do not know. {results[-1]}")}


def _look_into(order: str, results: list[str]) -> Mapping[str, Any]:
    match results:
        case []:
            return {
                "thinking": f"They want something about {order}. I need the order and the rules for refunds.",
                "calls": [
                    {"tool": "find_order", "input": {"order": order}},
                    {"tool": "read_policy", "input": {"topic": "refunds"}},
                ],
            }
        case [found, _] if found.startswith("Error"):
            return {"text": _words(f"I cannot find the order {order}. The ones I know are {' and '.join(_ORDERS)}.")}
        case [_, _]:
            return {
                "thinking": "There is no policy of that name, but one on returns.",
                "calls": [{"tool": "read_policy", "input": {"topic": "returns"}}],
            }
        case [_, _, _]:
            return _propose(order)
        case _:
            return {"text": _words(_outcome(order, results[-1])), "every_ms": 10}


def _propose(order: str) -> Mapping[str, Any]:
    item, price, days = _ORDERS[order].values()
    if days > 30:
        return {"text": _words(f"The {item} came {days} days ago, and returns end after 30. I cannot refund it.")}
    said = f"The {item} came {days} days ago, so it can be returned. I am asking a colleague to refund ${price:.2f}."
    return {"text": _words(said), "calls": [{"tool": "refund", "input": {"order": order, "amount": price}}]}


def _outcome(order: str, result: str) -> str:
    if "rejected" in result or "was not decided" in result:
        return f"My colleague did not agree to the refund of {order}, so nothing was paid."
    if "not known" in result:
        return f"I cannot tell whether the refund of {order} was paid; please ask a colleague to look."
    return f"The refund of {order} is on its way: R-{order}."


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text)


assistant = Agent(
    "assistant",
    model="scripted",
    turns=_think,
    instructions="You help the customers of a small shop. Look things up before you answer.",
    description="Helps customers of a small shop: thinks, uses tools, and asks before it pays.",
    samples=[
        "I want my money back for A-1001",
        "What is the average price of your goods?",
        "Where is my desk lamp, A-1002?",
    ],
    tools=[find_order, read_policy, refund, run_python],
)
