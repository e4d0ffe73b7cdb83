"""Agents of OpenAI Agents SDK.

`runner.py` runs one: its input, its approvals and its output. `recording.py` copies the agent and the agents that it
hands over to, with the log between them and their models and tools. `messages.py` translates items. The declaration is
in `agents/declared/frameworks.py`.
"""
