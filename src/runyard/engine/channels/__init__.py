"""Channels and DMs: messages, the agents in them, the order of replies, and the feed."""
