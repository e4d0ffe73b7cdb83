"""Threads, channels, their messages and their feed."""
