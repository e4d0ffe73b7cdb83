"""Every pod is replaced, one after the other, while runs are started and followed through nginx: no run, no event
and no follower is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod
from tests.support.servers.nginx_server import PrivateNginx
from tests.support.servers.postgres_server import free_port

RUNS = 12
WORDS = "".join(f"t{n} " for n in range(20))


def through(nginx: PrivateNginx) -> Pod:
    """The view of a client: one address that always answers."""
    door = Pod("nginx", "api", Path("/dev/null"))
    door.url = nginx.url
    return door


@pytest.mark.req("S0.36")
async def test_all_pods_are_replaced_under_load(flow: Flow, tmp_path: Path) -> None:
    ports = [free_port(), free_port()]
    apis = [await flow.start("api", port=port) for port in ports]
    workers = [await flow.start("worker") for _ in range(2)]
    with PrivateNginx(tmp_path, ports) as nginx:
        door = through(nginx)

        async def say() -> None:
            for _ in range(RUNS // 2):
                run_id = await flow.post(["step", "s"], ["tokens", 20, 10], pod=door)
                flow.follow(run_id, door, face="threads")
                flow.follow(run_id, door)
                await asyncio.sleep(0)

        talking = [asyncio.create_task(say()) for _ in range(2)]
        for place, old in enumerate(workers):
            workers[place] = await flow.start("worker")
            old.terminate()
            assert await old.end() == 0
        for place, old in enumerate(apis):
            old.terminate()
            assert await old.end() == 0
            apis[place] = await flow.start("api", port=ports[place])
        await asyncio.gather(*talking)
        await flow.settled()
        for reader in flow.readers:
            await reader.end()
        assert {reader.text for reader in flow.readers if reader.seen.face == "native"} == {WORDS}
        ours = [each for each in flow.evidence.failures if each.status != 502]  # that is nginx, without a pod to ask
        flow.evidence.failures[:] = ours
        await flow.check()
