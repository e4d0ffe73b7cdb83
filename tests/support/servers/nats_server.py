"""A private NATS server for the tests.

`python -m tests.support.servers.nats_server` says which program would be used.
"""

from __future__ import annotations

import sys

from tests.support.servers.daemon import Daemon, say_what_is_found


class PrivateNats(Daemon):
    program = "nats-server"
    greeting = b"INFO "

    def options(self) -> list[str]:
        return ["--addr", "127.0.0.1", "--port", str(self.port)]

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"


if __name__ == "__main__":
    sys.exit(say_what_is_found(PrivateNats))
