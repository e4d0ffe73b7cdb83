"""A test of `support.py` without a server, a key or a network: a scripted model, and a decision about the refund.

Run it with `pytest examples`.
"""

from support import support

from runyard.testing import run_agent_sync

TURNS = [{"calls": [{"tool": "refund", "input": {"order_id": "A-17", "amount": 38.5}}]}, {"text": "Refunded."}]


def test_a_refund_needs_an_approval() -> None:
    result = run_agent_sync(support, "Refund A-17, please.", turns=TURNS, decisions={"refund": True})
    assert [asked.name for asked in result.approvals] == ["refund"]
    assert result.tool_calls[0].output == "refunded 38.50 for A-17"
