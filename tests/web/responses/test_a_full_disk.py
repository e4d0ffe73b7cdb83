"""A full disk of the database: clients and load balancers get a 503, and liveness stays 200."""

import pytest

from runyard.errors import DiskFull
from tests.support.in_process.live_server import Server


@pytest.mark.parametrize("backend", ["memory"])
async def test_readiness_says_disk_full_and_liveness_stays(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await server.http.get("/health/ready")).status_code == 200

    async def full() -> None:
        raise DiskFull

    monkeypatch.setattr(server.process.store, "check_disk", full)
    answer = await server.http.get("/health/ready")
    assert (answer.status_code, answer.json()["code"]) == (503, "disk_full")
    assert answer.json()["detail"].startswith("Disk full")
    assert (await server.http.get("/health")).status_code == 200
