"""Ten thousand runs wait for a person, the server is restarted, and all runs are answered: the cost of waiting
(`rss_mb`,
`idle_cpu` of the restarted server), how long a decision takes, and how many runs continue per second."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

from bench.cases.gates import threads
from bench.cases.measure import Watch
from bench.client.wire import Wire
from bench.report.results import Row, percentile
from bench.servers import usage
from bench.servers.stand import Stand

T = TypeVar("T")
CONNECTIONS = 50
PAGE = 100
LOOK_SECONDS = 0.2


def waiting(stand: Stand, kind: str, count: int, idle_seconds: float) -> Sequence[Row]:
    with stand.server(kind, "waiting") as server:
        asyncio.run(_side_by_side(server.port, range(count), _ask))
        asyncio.run(_until(server.port, "/api/runs?status=waiting", "runs", count))
    with stand.server(kind, "waiting") as server:
        idle = Watch(server)
        time.sleep(idle_seconds)
        spent_idle, _ = idle.spent()
        rss = usage.rss_mb(server.pid)
        asked = asyncio.run(_all(server.port, "/api/approvals", "approvals"))
        if len(asked) != count:
            raise AssertionError(f"{count} runs wait, and {len(asked)} approvals are open")
        watch, begun = Watch(server), time.monotonic()
        took = asyncio.run(_side_by_side(server.port, asked, _approve))
        asyncio.run(_until(server.port, "/api/runs?status=done", "runs", count))
        seconds = time.monotonic() - begun
        spent, _ = watch.spent()
        return [
            Row(
                case="waiting",
                server=kind,
                clients=CONNECTIONS,
                size=count,
                runs=count,
                seconds=seconds,
                runs_s=count / seconds,
                took_ms_p50=percentile(took, 0.5),
                took_ms_p99=percentile(took, 0.99),
                server_cpu_us=None if spent is None else spent / 1e3 / count,
                idle_cpu=None if spent_idle is None else spent_idle / 1e9 / idle_seconds,
                rss_mb=rss,
            )
        ]


async def _ask(wire: Wire, _: object) -> None:
    await threads.post(wire, await threads.open_thread(wire), "asking", 0)


async def _approve(wire: Wire, asked: dict[str, str]) -> None:
    await wire.ask("POST", f"/api/approvals/{asked['approval_id']}", {"decision": "approve"})


async def _side_by_side(port: int, things: Sequence[T], do: Callable[[Wire, T], Awaitable[None]]) -> list[float]:
    """Do it to every thing, over a few connections; the milliseconds that each took."""
    took: list[float] = []
    left = iter(things)

    async def work() -> None:
        wire = await Wire.connect(port)
        for thing in left:
            begun = time.monotonic()
            await do(wire, thing)
            took.append((time.monotonic() - begun) * 1000)
        wire.close()

    await asyncio.gather(*[work() for _ in range(CONNECTIONS)])
    return took


async def _until(port: int, path: str, name: str, count: int) -> None:
    while len(await _all(port, path, name)) < count:  # noqa: ASYNC110 (it happens in another process)
        await asyncio.sleep(LOOK_SECONDS)


async def _all(port: int, path: str, name: str) -> list[dict[str, str]]:
    return [found async for found in _pages(port, path, name)]


async def _pages(port: int, path: str, name: str) -> AsyncIterator[dict[str, str]]:
    wire = await Wire.connect(port)
    before = ""
    while True:
        page = await wire.ask("GET", f"{path}{'&' if '?' in path else '?'}limit={PAGE}{before}")
        for found in page[name]:
            yield found
        if page.get("next") is None:
            break
        before = f"&before={page['next']}"
    wire.close()
