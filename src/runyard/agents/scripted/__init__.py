"""Agents that play a script: the same events from the same data."""
