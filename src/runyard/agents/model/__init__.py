"""Agents that ask a model: the prompt, the loop, the tool calls that the model requests."""
