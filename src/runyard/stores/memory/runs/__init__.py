"""Runs and what changes with them: transitions, waits, the reply order."""
