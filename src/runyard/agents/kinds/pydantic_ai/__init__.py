"""Agents of pydantic-ai.

`runner.py` runs one: its prompt, its history and its output. `recording.py` is the capability that pydantic-ai gets for
the run: it puts the log between the agent and its model, tools and approvals. `messages.py` translates messages. The
declaration is in `agents/declared/frameworks.py`.
"""
