"""Calls that a crash does not repeat: recorded steps and tools, questions to people, replay, and parking."""
