"""Transactions for operators and background tasks: retention, maintenance, keys, rate limits."""
