"""The face for A2A, the Agent2Agent protocol (`/a2a`): a context is a thread, a task is a run."""
