"""A thread as a new run finds it."""

from msgspec import Struct

from runyard.domain.conversations.thread import Thread
from runyard.domain.runs.run import Run


class ThreadHead(Struct, frozen=True):
    """A thread and its last run. `thread` is None if no thread has the name. `run` is None if the thread has no run,
    or the retention policy deleted it."""

    thread: Thread | None = None
    run: Run | None = None
