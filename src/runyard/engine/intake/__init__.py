"""How a run begins.

A face calls `Intake` (`intake.py`): `post` for a message in a thread, `start` for a task without one, `edit`, `retry`,
`fork`. Intake checks the agent and the limits, redacts the text and stores message, run and `run.queued` in one commit,
which it shares with requests that arrive at the same time (`engine/log/group.py`). If this process's worker has a free
slot and the lane is idle, the same commit claims the run and the worker starts it at once; otherwise all workers are
woken. `fork.py` copies the beginning of a log into a new thread.

Guarantees: when the call returns, the run is durable and will be executed. A repeated idempotency key returns the
first answer and queues nothing; if its run was deleted meanwhile, it raises Gone (`idempotency.py`).
"""
