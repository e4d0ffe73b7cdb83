"""A store in plain dictionaries: for unit tests, and as the model that the databases are compared with.

No operation awaits anything, so each is atomic on one event loop. The data lives as long as the object: `close` and
`open` change nothing. The code prefers clarity to speed: most operations scan all rows.

Each part is a class that derives from the parts whose methods it calls; all of them share `rows.Rows`.
"""

from runyard.stores.memory.content.checkpoints import Checkpoints
from runyard.stores.memory.content.documents import Documents
from runyard.stores.memory.conversations.messages import Messages
from runyard.stores.memory.log.log import Log
from runyard.stores.memory.log.snapshots import Snapshots
from runyard.stores.memory.queue.steering import Steering
from runyard.stores.memory.runs.waits import Waits
from runyard.stores.memory.upkeep.api_keys import ApiKeys
from runyard.stores.memory.upkeep.overview import Overviews
from runyard.stores.memory.upkeep.rate_limits import RateLimits
from runyard.stores.memory.upkeep.retention import Retention


class MemoryStore(
    Messages, Steering, Waits, Log, Overviews, Retention, Checkpoints, Snapshots, Documents, ApiKeys, RateLimits
):
    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def ping(self) -> None:
        pass

    async def check_disk(self) -> None:
        pass
