"""NATS, core subjects only. A path in the URL becomes part of the subject, so that two Runyards on one server do not
wake each other."""

import asyncio
from collections.abc import Sequence
from typing import NoReturn
from urllib.parse import urlsplit

from nats.aio.client import Client
from nats.aio.msg import Msg

from runyard.buses.reconnecting import PATIENCE_SECONDS, Heard, ReconnectingBus, until_lost


class NatsBus(ReconnectingBus):
    name = "nats"

    def __init__(self, url: str, patience: float = PATIENCE_SECONDS) -> None:
        super().__init__(patience)
        parts = urlsplit(url)
        self._url = parts._replace(path="").geturl()
        self._subject = ".".join(["runyard", *filter(None, parts.path.split("/"))])

    def link(self) -> "_Link":
        return _Link(self._url, self._subject, self._patience)


class _Link:
    def __init__(self, url: str, subject: str, patience: float) -> None:
        self._url = url
        self._subject = subject
        self._patience = patience
        self._client = Client()
        self._lost = asyncio.Event()

    async def open(self, heard: Heard) -> None:
        async def closed() -> None:
            self._lost.set()

        async def failed(error: Exception) -> None:
            """Without this the driver logs it, with its text."""

        async def arrived(message: Msg) -> None:
            heard(message.data.decode("ascii", "replace"))

        await self._client.connect(
            self._url,
            name="runyard",
            allow_reconnect=False,  # the line connects anew, nobody else
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            closed_cb=closed,
            error_cb=failed,
        )
        await self._client.subscribe(self._subject, cb=arrived)
        for _ in range(2):  # the first ping overtakes the subscription, which waits in the driver; the second does not
            await self._client.flush()

    async def publish(self, messages: Sequence[str]) -> None:
        for message in messages:
            await self._client.publish(self._subject, message.encode())
        await self._client.flush()

    async def watch(self) -> NoReturn:
        await until_lost(self._lost, self._client.flush, self._patience)

    async def close(self) -> None:
        await self._client.close()
