"""The store in memory, for tests."""

from runyard.base.clock import Clock, SystemClock
from runyard.stores import memory


class MemoryStore(memory.MemoryStore):
    """A store that keeps runs, logs and threads in memory. It has the same guarantees as the databases.

    Args:
        clock: The clock of the store. The default is the clock of the machine.

    Example:
        >>> store = MemoryStore()
        >>> hello = runyard.scripted("hello", [{"token": "Hello"}])
        >>> run_id = run_agent_sync(hello, store=store).events[0].run_id
        >>> asyncio.run(store.get_run("local", run_id)).agent
        'hello'
    """

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock or SystemClock())
