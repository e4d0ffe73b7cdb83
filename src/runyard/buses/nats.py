"""The bus on NATS core subjects. A path in the URL becomes part of the subject, so that two installations on one server
do not wake each other."""

import asyncio
from collections.abc import Sequence
from typing import NoReturn
from urllib.parse import urlsplit

from nats.aio.client import Client
from nats.aio.msg import Msg

from runyard.buses.reconnecting import PATIENCE_SECONDS, PRESENCE_SECONDS, OnMessage, ReconnectingBus, until_lost


class NatsBus(ReconnectingBus):
    name = "nats"

    def __init__(self, url: str, patience: float = PATIENCE_SECONDS, presence: float = PRESENCE_SECONDS) -> None:
        super().__init__(patience, presence)
        parts = urlsplit(url)
        self._url = parts._replace(path="").geturl()
        self._subject = ".".join(["runyard", *filter(None, parts.path.split("/"))])

    def new_connection(self) -> "_NatsConnection":
        return _NatsConnection(self._url, self._subject, self._patience)


class _NatsConnection:
    def __init__(self, url: str, subject: str, patience: float) -> None:
        self._url = url
        self._subject = subject
        self._patience = patience
        self._client = Client()
        self._lost = asyncio.Event()

    async def open(self, on_message: OnMessage) -> None:
        async def closed() -> None:
            self._lost.set()

        async def failed(error: Exception) -> None:
            """Ignore the error: the driver would log its text."""

        async def arrived(message: Msg) -> None:
            on_message(message.data.decode("ascii", "replace"))

        await self._client.connect(
            self._url,
            name="runyard",
            allow_reconnect=False,  # ReconnectingBus reconnects
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            closed_cb=closed,
            error_cb=failed,
        )
        await self._client.subscribe(self._subject, cb=arrived)
        for _ in range(2):  # the first ping overtakes the subscription in the driver's queue; the second does not
            await self._client.flush()

    async def publish(self, messages: Sequence[str]) -> None:
        for message in messages:
            await self._client.publish(self._subject, message.encode())
        await self._client.flush()

    async def watch(self) -> NoReturn:
        await until_lost(self._lost, self._client.flush, self._patience)

    async def close(self) -> None:
        await self._client.close()
