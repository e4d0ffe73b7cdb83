"""Agents in channels and DMs: their prompt and their tools."""
