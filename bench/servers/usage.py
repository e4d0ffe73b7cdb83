"""The usage of processes that the kernel counts: processor time to the nanosecond, memory. Linux only, else None."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def cpu_ns(pid: int) -> int | None:
    """The time that all threads of a process have had on a processor."""
    total = None
    with suppress(OSError):
        for thread in (PROC / str(pid) / "task").iterdir():
            total = (total or 0) + int((thread / "schedstat").read_text().split()[0])
    return total


def rss_mb(pid: int) -> float | None:
    return _status(pid, "VmRSS")


def family_rss_mb(pid: int) -> float | None:
    """Return the memory of a process and its children. Pages that they share count for each."""
    found = [rss for rss in map(rss_mb, [pid, *_children(pid)]) if rss is not None]
    return sum(found) if found else None


def peak_rss_mb(pid: int) -> float | None:
    return _status(pid, "VmHWM")


def _status(pid: int, field: str) -> float | None:
    with suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    return None


def family_cpu_ns(pid: int) -> dict[int, int]:
    """By process: a process and its children."""
    found = {}
    for each in [pid, *_children(pid)]:
        spent = cpu_ns(each)
        if spent is not None:
            found[each] = spent
    return found


def spent_ns(before: Mapping[int, int], after: Mapping[int, int]) -> int:
    """The CPU time of a process and its children between two readings; a new child counts as a whole."""
    return sum(spent - before.get(pid, 0) for pid, spent in after.items())


def _children(pid: int) -> list[int]:
    found = []
    for stat in PROC.glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found
