"""Measures large databases: a million queued runs, five million events, ten thousand waiting approvals,
ten thousand open streams."""
