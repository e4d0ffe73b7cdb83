"""Agents that are an `async def` function."""
