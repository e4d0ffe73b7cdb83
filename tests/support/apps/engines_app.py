"""The app of the test that compares engines: agents of `flow_app.py`, and one agent in LangGraph and in Runyard's own
loop."""

from __future__ import annotations

import runyard
from tests.support.apps import flow_app
from tests.support.apps.graph_agents import in_our_loop, pay_tool, react

player, fixed, thinker = flow_app.player, flow_app.fixed, flow_app.thinker
_pay = pay_tool(lambda *_: None)
ours = in_our_loop("ours", _pay)
graph = runyard.langgraph("graph", react(_pay))
