"""Threads, channels, their messages and recipients, as values."""
