"""Protocols for operators: retention, API keys, rate limits."""
