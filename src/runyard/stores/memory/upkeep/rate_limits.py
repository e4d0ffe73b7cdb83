"""Times of calls of rate-limited tools, for each owner, agent and tool."""

from runyard.domain.rate import wait_ms
from runyard.stores.memory.rows import Rows


class RateLimits(Rows):
    async def take_call(self, owner: str, agent: str, tool: str, most: int, window_ms: int) -> int:
        times = self._calls.setdefault((owner, agent, tool), [])
        wait = wait_ms(times[-most] if len(times) >= most else None, self._now(), window_ms)
        if not wait:
            times.append(self._now())
            del times[:-most]
        return wait

    async def forget_calls(self, older_than_ms: int) -> None:
        horizon = self._now() - older_than_ms
        self._calls = {key: times for key, times in self._calls.items() if times and times[-1] >= horizon}
