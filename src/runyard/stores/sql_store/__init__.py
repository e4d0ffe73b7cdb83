"""The store on SQL, common to both databases: every operation of `Store` as a transaction script, by subject."""

from runyard.stores.full_disk import FullDisk
from runyard.stores.sql_store.content import ContentOperations
from runyard.stores.sql_store.conversations import ConversationOperations
from runyard.stores.sql_store.log import LogOperations, WrittenPart
from runyard.stores.sql_store.queue import QueueOperations
from runyard.stores.sql_store.runs import RunOperations
from runyard.stores.sql_store.upkeep import UpkeepOperations
from runyard.stores.transactions.log import log

__all__ = ["SqlStore", "WrittenPart"]


class SqlStore(
    QueueOperations, RunOperations, LogOperations, ConversationOperations, ContentOperations, UpkeepOperations
):
    _full_disk: FullDisk

    async def open(self) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    async def scrub(self) -> None:
        """Remove traces of replaced values from the database file. Does nothing on a database server."""

    async def ping(self) -> None:
        await self._read(log.heads, [])

    async def check_disk(self) -> None:
        self._full_disk.check()
