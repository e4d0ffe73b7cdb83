"""The bus on Redis pub/sub. Redis shares channels between its databases; the database number in the URL is part of the
channel name, so that two installations on one server do not wake each other."""

from collections.abc import Sequence
from typing import NoReturn

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from runyard.buses.reconnecting import PATIENCE_SECONDS, PRESENCE_SECONDS, OnMessage, ReconnectingBus


class RedisBus(ReconnectingBus):
    name = "redis"

    def __init__(self, url: str, patience: float = PATIENCE_SECONDS, presence: float = PRESENCE_SECONDS) -> None:
        super().__init__(patience, presence)
        self._url = url

    def new_connection(self) -> "_RedisConnection":
        return _RedisConnection(self._url, self._patience)


class _RedisConnection:
    def __init__(self, url: str, patience: float) -> None:
        self._url = url
        self._patience = patience
        self._client: Redis | None = None

    async def open(self, on_message: OnMessage) -> None:
        self._on_message = on_message
        self._client = client = Redis.from_url(
            self._url,
            protocol=2,
            socket_timeout=None,  # ReconnectingBus has its own time-outs
            socket_connect_timeout=self._patience,
            retry=Retry(NoBackoff(), 0),  # only ReconnectingBus reconnects
            client_name="runyard",
        )
        self._channel = f"runyard:{client.connection_pool.connection_kwargs.get('db', 0)}"
        self._pubsub: PubSub = client.pubsub()
        await self._pubsub.subscribe(self._channel)
        if await self._pubsub.get_message(timeout=self._patience) is None:
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
            message = await self._pubsub.get_message(timeout=self._patience)
            if message is None and is_asked:
                raise TimeoutError
            if message is None:
                await self._pubsub.ping()
            elif message["type"] == "message":
                self._on_message(message["data"].decode("ascii", "replace"))
            is_asked = message is None

    async def close(self) -> None:
        if self._client is not None:
            await self._pubsub.aclose()  # type: ignore[no-untyped-call]
            await self._client.aclose()
