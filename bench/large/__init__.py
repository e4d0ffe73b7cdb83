"""Does it stay as fast when there is much? A million queued runs, five million events, ten thousand waiting approvals,
ten thousand open streams."""
