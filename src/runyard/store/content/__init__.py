"""Protocols for content that belongs to no run alone: agents, documents, files, checkpoints."""
