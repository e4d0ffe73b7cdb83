"""Content that belongs to no run alone: agents and their memory, documents, files, checkpoints."""
