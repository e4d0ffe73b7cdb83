"""Calls of rate-limited tools, counted under the lock of their owner, agent and tool.

Calls are numbered, so that the call that must have left the window is found by its number, however high the limit is.
"""

from runyard.domain.rate import wait_ms
from runyard.stores.transactions.tx import Tx


async def take(tx: Tx, owner: str, agent: str, tool: str, most: int, window_ms: int) -> int:
    [rate] = await tx.rows(tx.q.lock_rate, owner, agent, tool)
    last, now = int(rate["last"]), int(rate["now"])
    found = await tx.rows(tx.q.get_call, owner, agent, tool, last + 1 - most)
    wait = wait_ms(found[0]["called_at"] if found else None, now, window_ms)
    if not wait:
        await tx.rows(tx.q.count_call, owner, agent, tool, last + 1, now)
        await tx.rows(tx.q.insert_call, owner, agent, tool, last + 1, now)
        await tx.rows(tx.q.drop_calls, owner, agent, tool, last + 1 - most)
    return wait


async def forget(tx: Tx, older_than_ms: int) -> None:
    await tx.rows(tx.q.forget_calls, older_than_ms)
