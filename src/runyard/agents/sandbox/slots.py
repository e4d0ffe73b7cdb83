"""A user of its own for every sandbox that runs at a time, where we are root and can give it one.

The kernel counts processes by user, and never counts root's. So each sandbox runs as a user that nobody else is: from a
range that distributions leave alone. Who holds one is settled by an abstract socket of that name, which the kernel
takes back when its owner dies, so that several servers on a machine do not share one and a crash leaves none behind.
"""

import os
import socket
from types import TracebackType

FIRST, COUNT = 60600, 512


class Slot:
    """`with Slot() as uid`: a user id that is nobody else's meanwhile, or None where we are not root."""

    def __init__(self) -> None:
        self._held: socket.socket | None = None

    def __enter__(self) -> int | None:
        return self.take()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.give_back()

    def take(self) -> int | None:
        if os.geteuid() != 0:
            return None
        for uid in range(FIRST, FIRST + COUNT):
            held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                held.bind(f"\0runyard-sandbox-{uid}")
            except OSError:
                held.close()
                continue
            self._held = held
            return uid
        raise OSError("all users for sandboxes are taken")

    def give_back(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None
