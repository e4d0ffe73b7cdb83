"""A test of `graph_support.py` without a server, a key or a network: an answer to its question, and a decision.

Run it with `pytest examples`.
"""

from graph_support import support

from runyard.testing import run_agent_sync


def test_a_graph_asks_a_person_and_refunds_after_an_approval() -> None:
    answers = {"Why is A-17 sent back?": "late"}
    result = run_agent_sync(support, "Please refund A-17.", decisions={"refund": True}, answers=answers)
    assert result.text == "All right: refunded A-17: late."
    assert [call.output for call in result.tool_calls] == ["refunded A-17: late"]
