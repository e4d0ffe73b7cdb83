"""Content as values: parts of messages, files, documents, agents and their memory."""
