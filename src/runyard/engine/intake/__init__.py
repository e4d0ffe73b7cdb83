"""How a run begins: a message, its run and `run.queued` in one commit; or a copy of another run's log (a fork)."""
