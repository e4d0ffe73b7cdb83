"""A private Redis server for the tests.

`python -m tests.support.servers.redis_server` says which program would be used.
"""

from __future__ import annotations

import sys

from tests.support.servers.daemon import Daemon, say_what_is_found


class PrivateRedis(Daemon):
    program = "redis-server"
    greeting = b"+PONG"

    def options(self) -> list[str]:
        return ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


if __name__ == "__main__":
    sys.exit(say_what_is_found(PrivateRedis))
