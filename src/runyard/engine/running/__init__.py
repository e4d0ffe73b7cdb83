"""Executing runs: from the claim to the move that ends the claim.

`worker.py` registers with the store, renews its lease (`lease.py`), claims runs into free slots and starts a `RunTask`
(`run_task.py`) for each. The task folds the log (`earlier_runs.py`), gives the agent's runner a `RunHandle`
(`run_handle.py`) and turns its result into one move: finish, park or release. The handle redacts (`redacting.py`),
measures, traces (`run_trace.py`) and writes every event through the journal. All tasks of a process share one
`RunServices` (`run_services.py`). While the database is unavailable, `database_wait.py` repeats what runs ask of it.
`watchdog.py` finds agents that block the event loop and interrupts them.

Guarantees: a run is executed by at most one worker that can still write; a worker that loses its lease stops its runs
before another may take them; a stop never interrupts the write that records an outcome.
"""
