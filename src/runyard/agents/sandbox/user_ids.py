"""A separate user id for every running sandbox, if the server runs as root.

The kernel counts processes per user, but not root's. So each sandbox runs as its own user, from a range that
distributions leave unused. A process holds a user id by binding an abstract socket of that name. The kernel releases
the name when its owner dies, so that several servers on a machine never share an id and a crash leaks none.
"""

import os
import socket

FIRST, COUNT = 60600, 512


class SandboxUser:
    """A user id that no other sandbox uses while it is held."""

    def __init__(self) -> None:
        self._lock_socket: socket.socket | None = None

    def take(self) -> int | None:
        """Return a free user id, or None if the server is not root."""
        if os.geteuid() != 0:
            return None
        for uid in range(FIRST, FIRST + COUNT):
            held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                held.bind(f"\0runyard-sandbox-{uid}")
            except OSError:
                held.close()
                continue
            self._lock_socket = held
            return uid
        raise OSError("all user ids for sandboxes are in use")

    def release(self) -> None:
        if self._lock_socket is not None:
            self._lock_socket.close()
            self._lock_socket = None
