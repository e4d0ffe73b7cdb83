"""Agents of pydantic-ai.

`runner.py` runs one: its prompt, its history and its output. `recording.py` is the durability capability that
pydantic-ai gets for the run, and `backend.py` the backend that records its operations in the log. `messages.py`
translates messages. The declaration is in `agents/declared/frameworks.py`.
"""
