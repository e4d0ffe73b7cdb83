"""What ends, decides or deletes a run from outside its worker.

Faces call `cancel.py` (record a cancel request, stop the run), `approvals.py` (record a decision, requeue the run),
`deadlines.py` (cancel a run that a client waits for too long) and `disconnects.py` (start a deadline when the last
client leaves). Every process runs three background loops: `reaper.py` takes runs from dead workers and enforces all
deadlines, `retention.py` deletes what is older than the retention time, `deleted_files.py` removes the files of what
was deleted.

Guarantees: every change is one transaction in the store, under the lane's lock, together with its events. No process
leads: two that do the same work at once change nothing twice.
"""
