"""Read-only views: threads, messages, runs, states, checkpoints, and the overview for operators."""
