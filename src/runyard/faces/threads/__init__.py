"""The threads face (S0): threads, messages, runs and their events."""
