"""The processes of a sandbox, read from /proc: how much memory they use, and killing all of them.

Buffers of sockets belong to no process, so each socket counts as full.
"""

import os
import select
import signal
from contextlib import suppress
from functools import cache
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MESSAGE_BYTES = 128 * 1024


class ProcessTree:
    """All processes of a pid namespace, held by its first process: when that ends, all of them end.

    Held by a pidfd, so that a reused pid is never mistaken for it."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._fd = os.pidfd_open(pid)

    def memory(self) -> int:
        """Return the bytes in memory of all processes together. Shared memory counts for each of them."""
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
        """Return the number of sockets in the namespace."""
        with suppress(OSError, ValueError, IndexError):
            return int(Path(f"/proc/{self._pid}/net/sockstat").read_text().split()[2])
        return 0

    def end(self, seconds: float) -> bool:
        """Kill all processes and return whether they ended within `seconds`."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._fd, signal.SIGKILL)
        watch = select.poll()
        watch.register(self._fd, select.POLLIN)
        gone = bool(watch.poll(seconds * 1000))
        with suppress(ChildProcessError):  # we must reap it if we are pid 1 of a container
            os.waitid(os.P_PIDFD, self._fd, os.WEXITED | os.WNOHANG)
        os.close(self._fd)
        return gone


@cache
def _socket_bytes() -> int:
    """Return the bytes that a socket can hold: its send buffer, which a program cannot enlarge, and one message."""
    with suppress(OSError, ValueError):
        return int(Path("/proc/sys/net/core/wmem_default").read_text()) + _MESSAGE_BYTES
    return 2 * _MESSAGE_BYTES
