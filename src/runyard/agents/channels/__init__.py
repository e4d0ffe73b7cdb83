"""Agents in channels and direct messages (DMs).

`prompt.py` renders the prompt from an agent's persona, memory and the last messages. `tools.py` declares the six tools
through which the agent acts: send and react to messages, read and write memory, or do nothing. Both are pure; the
engine (`engine/channels/`) loads the data and implements `AgentActions`.
"""
