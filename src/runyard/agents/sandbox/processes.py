"""A tree of processes as /proc shows it: how much memory it has, and when all of it is gone.

Memory includes the buffers of sockets, which belong to no process: each socket counts as full.
"""

import os
import select
import signal
from contextlib import suppress
from functools import cache
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MESSAGE_BYTES = 128 * 1024


class Family:
    """The first process of a pid namespace, and with it everything inside: they end together.

    Held by a descriptor, so that a number that is given to another process later is never mistaken for it."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._fd = os.pidfd_open(pid)

    def memory(self) -> int:
        """Bytes in memory, all processes together; what they share counts more than once."""
        total, left = self._sockets() * _socket_bytes(), [self._pid]
        while left:
            pid = left.pop()
            with suppress(OSError, ValueError):
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
            with suppress(OSError, ValueError):
                for children in Path(f"/proc/{pid}/task").glob("*/children"):
                    left += [int(child) for child in children.read_text().split()]
        return total

    def _sockets(self) -> int:
        """How many sockets there are in the namespace."""
        with suppress(OSError, ValueError, IndexError):
            return int(Path(f"/proc/{self._pid}/net/sockstat").read_text().split()[2])
        return 0

    def end(self, seconds: float) -> bool:
        """Kill it, and wait until the kernel has taken down the whole namespace."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._fd, signal.SIGKILL)
        watch = select.poll()
        watch.register(self._fd, select.POLLIN)
        gone = bool(watch.poll(seconds * 1000))
        with suppress(ChildProcessError):  # ours to bury if we are the first process of a container
            os.waitid(os.P_PIDFD, self._fd, os.WEXITED | os.WNOHANG)
        os.close(self._fd)
        return gone


@cache
def _socket_bytes() -> int:
    """What a socket can hold: its send buffer, which a program may not enlarge, and one message more."""
    with suppress(OSError, ValueError):
        return int(Path("/proc/sys/net/core/wmem_default").read_text()) + _MESSAGE_BYTES
    return 2 * _MESSAGE_BYTES
