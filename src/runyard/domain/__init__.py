"""Runs, events, threads and approvals as values: pure, no I/O, no clock, no ids of their own making."""
