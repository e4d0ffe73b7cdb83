"""Protocols for threads, channels and their messages."""
