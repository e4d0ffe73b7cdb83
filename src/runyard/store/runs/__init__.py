"""Protocols for runs, their waits and their ledgers."""
