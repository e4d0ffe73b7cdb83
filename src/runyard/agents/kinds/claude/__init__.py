"""Agents that Claude Agent SDK runs.

`runner.py` starts a query, records its messages and makes its tool calls under the rules of `durable/`. `messages.py`
reads the SDK's messages into our own types. The declaration is in `agents/declared/claude.py`.
"""
