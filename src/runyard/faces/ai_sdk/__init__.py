"""The face for the AI SDK: a chat is a thread, an answer is a run."""
