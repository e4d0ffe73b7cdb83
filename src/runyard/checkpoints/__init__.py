"""Copies of finished chat interactions, in a table or in files. Derived from the log; never read to resume a run."""
