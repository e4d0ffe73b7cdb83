"""Runs and what changes with them: lanes, waits, the reply order, the ledger. Imports no other subject."""
