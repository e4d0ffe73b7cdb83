"""Redis pub/sub. Redis shares channels between its databases; the number in the URL is part of the name, so that two
Runyards on one server do not wake each other."""

from collections.abc import Sequence
from typing import NoReturn

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from runyard.buses.reconnecting import PATIENCE_SECONDS, Heard, ReconnectingBus


class RedisBus(ReconnectingBus):
    name = "redis"

    def __init__(self, url: str, patience: float = PATIENCE_SECONDS) -> None:
        super().__init__(patience)
        self._url = url

    def link(self) -> "_Link":
        return _Link(self._url, self._patience)


class _Link:
    def __init__(self, url: str, patience: float) -> None:
        self._url = url
        self._patience = patience
        self._client: Redis | None = None

    async def open(self, heard: Heard) -> None:
        self._heard = heard
        self._client = client = Redis.from_url(
            self._url,
            protocol=2,
            socket_timeout=None,  # the line has its own
            socket_connect_timeout=self._patience,
            retry=Retry(NoBackoff(), 0),  # the line connects anew, nobody else
            client_name="runyard",
        )
        self._channel = f"runyard:{client.connection_pool.connection_kwargs.get('db', 0)}"
        self._ears: PubSub = client.pubsub()
        await self._ears.subscribe(self._channel)
        if await self._ears.get_message(timeout=self._patience) is None:
            raise TimeoutError

    async def publish(self, messages: Sequence[str]) -> None:
        assert self._client is not None
        pipeline = self._client.pipeline(transaction=False)
        for message in messages:
            pipeline.publish(self._channel, message)
        await pipeline.execute()

    async def watch(self) -> NoReturn:
        is_asked = False
        while True:
            message = await self._ears.get_message(timeout=self._patience)
            if message is None and is_asked:
                raise TimeoutError
            if message is None:
                await self._ears.ping()
            elif message["type"] == "message":
                self._heard(message["data"].decode("ascii", "replace"))
            is_asked = message is None

    async def close(self) -> None:
        if self._client is not None:
            await self._ears.aclose()  # type: ignore[no-untyped-call]
            await self._client.aclose()
