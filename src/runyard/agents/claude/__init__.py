"""Agents that the Claude Agent SDK runs."""
