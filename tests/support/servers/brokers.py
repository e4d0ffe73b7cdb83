"""The brokers of Celery in the tests: a private Redis, and a private RabbitMQ where that is installed."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

from redis import Redis

from tests.support.servers.daemon import Daemon
from tests.support.servers.postgres_server import free_port
from tests.support.servers.redis_server import PrivateRedis

RABBITMQ = Path("/usr/lib/rabbitmq/bin")  # Debian; the commands in its PATH change to another user


class RedisBroker(PrivateRedis):
    """Redis, and what Celery keeps in it."""

    def queued(self, queue: str = "runyard") -> int:
        """Return the number of messages that wait for a worker."""
        return len(self._messages(queue))

    def ids(self) -> set[str]:
        """Return the ids of the messages in the queue."""
        return {message["headers"]["id"] for message in self._messages("runyard")}

    def is_settled(self) -> bool:
        """Whether every delivered message is acknowledged."""
        with Redis.from_url(self.url) as client:
            return not client.exists("unacked")

    def empty(self) -> None:
        with Redis.from_url(self.url) as client:
            client.flushall()

    def _messages(self, queue: str) -> list[dict[str, Any]]:
        with Redis.from_url(self.url) as client:
            return [json.loads(message) for message in client.lrange(queue, 0, -1)]


class RabbitBroker(Daemon):
    """RabbitMQ with a node, a name server and a separate folder. A killed one keeps its durable queues."""

    program = "rabbitmq-server"
    hello = b"PING\r\n\r\n"  # eight bytes that are not the protocol's; the answer names it
    greeting = b"AMQP"

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="runyard-rabbitmq-")
        self._names_port, self._node_port = free_port(), free_port()

    @classmethod
    def find(cls) -> Path:
        return RABBITMQ / cls.program

    @classmethod
    def is_installed(cls) -> bool:
        return cls.find().exists()

    def options(self) -> list[str]:
        return []

    def environment(self) -> dict[str, str]:
        folder = Path(self._folder.name)
        return {
            "HOME": str(folder),
            "ERL_EPMD_PORT": str(self._names_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_RELAXED_COMMAND_CHECK": "1",  # it may be told to end
            "RABBITMQ_NODENAME": f"runyard{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._node_port),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_CONFIG_FILE": str(folder / "no-settings"),
            "RABBITMQ_CONF_ENV_FILE": str(folder / "no-variables"),
        }

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        subprocess.run(["epmd", "-port", str(self._names_port), "-kill"], stdout=subprocess.DEVNULL, check=True)
        self._folder.cleanup()

    def queued(self, queue: str = "runyard") -> int:
        listing = self._control("list_queues", "name", "messages_ready", "--quiet", "--no-table-headers")
        counts = dict(line.split() for line in listing.splitlines())
        return int(counts.get(queue, 0))

    def is_settled(self) -> bool:
        listing = self._control("list_queues", "messages_unacknowledged", "--quiet", "--no-table-headers")
        return all(number == "0" for number in listing.split())

    def empty(self) -> None:
        self._control("purge_queue", "runyard")

    def _control(self, *words: str) -> str:
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **self.environment()}
        command = [str(RABBITMQ / "rabbitmqctl"), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


Broker = RedisBroker | RabbitBroker
