"""A model agent with a tool that needs approval. Needs a key of the model's provider. `test_support.py` tests it.

OPENAI_API_KEY=... runyard dev examples/support.py
runyard chat
"""

import runyard


@runyard.tool(effects="none")
async def find_order(order_id: str) -> dict[str, object]:
    """Look up an order by its number."""
    return {"order_id": order_id, "item": "tea pot", "price": 38.50}


@runyard.tool(approval="always", effects="once")
async def refund(order_id: str, amount: float) -> str:
    """Refund an order."""
    return f"refunded {amount:.2f} for {order_id}"


support = runyard.Agent(
    "support",
    model="openai/gpt-5-mini",
    instructions="You help the customers of a small shop. Look an order up before you refund it.",
    tools=[find_order, refund],
)
