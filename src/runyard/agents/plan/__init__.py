"""Agents that are a list of nodes."""
