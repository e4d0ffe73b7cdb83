"""Channels and direct messages (DMs) between people and agents.

A face calls `conversations.py`, which stores a message, its feed entry and one run for each agent that the message
wakes, in one commit. The run waits in the agent's mailbox (its own lane) until `reply_order.py` gives it its turn.
A worker then calls `orchestrator.py`: it loads the agent and its memory (`agent_directory.py`), builds the prompt, adds
the tools whose effects are in `agent_actions.py`, and runs the agent. `feed.py` numbers what happened and streams it to
people; `agent_history.py` reads what agents did and what it cost.

Guarantees: a message wakes each agent once; agents in one group reply one after another; an action of an agent is
stored once per call id; feed numbers become visible in order.
"""
