"""A graph of LangGraph as an agent: a question to a person, a tool that needs approval, and a streamed answer. It needs
no key, because its model is a fake of LangChain.

pip install 'runyard[langgraph]'
runyard dev examples/graph_support.py
runyard chat
"""

from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

import runyard


@runyard.tool(approval="always", effects="once")
async def refund(order_id: str, reason: str) -> str:
    """Refund an order."""
    return f"refunded {order_id}: {reason}"


class Case(MessagesState):
    order_id: str
    reason: str


async def read(state: Case) -> dict[str, Any]:
    """Find the order in the message."""
    words = state["messages"][-1].text.rstrip(".!?").split()
    return {"order_id": words[-1] if words else "unknown"}


async def ask(state: Case) -> dict[str, Any]:
    """Wait for a person, for a second or a month."""
    reasons = {"enum": ["broken", "late", "other"]}
    return {"reason": interrupt(f"Why is {state['order_id']} sent back?", response_schema=reasons)}


async def pay_back(state: Case) -> dict[str, Any]:
    """Call a tool of Runyard: recorded, approved by a person, and never called twice."""
    done = await runyard.langchain_tool(refund).ainvoke({"order_id": state["order_id"], "reason": state["reason"]})
    model = GenericFakeChatModel(messages=iter([AIMessage(f"All right: {done}.")]))
    return {"messages": [await model.ainvoke(state["messages"])]}


graph = StateGraph(Case).add_node(read).add_node(ask).add_node(pay_back)
graph.add_edge(START, "read").add_edge("read", "ask").add_edge("ask", "pay_back")

support = runyard.langgraph("support", graph.compile())
