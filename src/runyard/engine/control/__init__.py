"""End, answer or delete a run from outside its worker.

Faces call `cancel.py` (record a cancel request, stop the run), `waits.py` (record an answer, requeue the run),
`deadlines.py` (cancel a run that a client waits for too long), `disconnects.py` (start a deadline when the last client
leaves) and `wait_follower.py` (follow the open waits of an owner). `linked_runs.py` answers waits without a client:
when a child run ends, an event arrives or a deadline passes.

Every process runs three background loops: `reaper.py` takes runs from dead workers and enforces all deadlines,
`retention.py` deletes runs older than the retention time, `deleted_files.py` removes the files of deleted runs and
threads. If another engine such as Celery runs the workers, `announcer.py` tells it of ready runs.

Guarantees: every change is one transaction in the store, under the lane's lock, together with its events. No process
leads: two that do the same work at once change nothing twice.
"""
