"""Runs, their lanes and their writes, as values and pure rules."""
