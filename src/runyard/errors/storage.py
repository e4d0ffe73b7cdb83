"""Errors of the database and of writes to a run."""

from runyard.errors.base import RunyardError


class Unavailable(RunyardError):
    """The database is not available; try again in a moment."""

    code = "unavailable"


class ClockAhead(Unavailable):
    """The clock of this server is ahead of the database's clock. Set the server's clock (NTP)."""

    code = "clock_ahead"


class DiskFull(Unavailable):
    """Disk full: the database cannot write. Free or add space; the server then continues by itself."""

    code = "disk_full"


class Unreadable(RunyardError):
    """A stored value cannot be decrypted: it was changed, moved, or encrypted with another key. Check
    RUNYARD_ENCRYPTION_KEYS."""

    code = "unreadable"


class WriteRefused(RunyardError):
    """The store rejected the write."""

    code = "refused"


class Fenced(WriteRefused):
    """Another worker owns this run now."""

    code = "fenced"


class CancelRequested(WriteRefused):
    """A cancel of the run was requested."""

    code = "cancel_requested"


class NotParked(WriteRefused):
    """A decision arrived before the run could park."""

    code = "not_parked"


class NonMonotonicSeq(WriteRefused):
    """The expected seq is not the next one of the log."""

    code = "non_monotonic_seq"
