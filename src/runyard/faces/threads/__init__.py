"""The threads face: threads, messages, runs and their events."""
