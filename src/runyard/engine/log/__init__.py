"""The log of a run: writing, following and publishing it.

`journal.py` is the only writer of events. It commits what all runs of the process have buffered (`group.py` does the
same for new runs) and gives committed events to `tail.py`, which keeps the recent end of each log in memory, wakes
followers (`wakeups.py`) and reports the commit to `outbox.py`. The outbox advances the cursors of published events in
the store, records them in `publications.py` and sends a hint over the bus to other processes. `stream.py` is the only
reader for clients: a cursor that reads from the tail, or from the store where the tail has a gap.

Guarantees: a follower sees each committed event once, in seq order, and never an uncommitted one. Hints may be lost,
repeated or late: every reader also polls the store.
"""
