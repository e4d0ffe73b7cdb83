"""`make run` serves at the port of the environment, with the rooms of the example at that port."""

import os
import signal
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.support.eventually import PATIENCE, eventually
from tests.support.servers.postgres_server import free_port

pytestmark = pytest.mark.flow
ROOT = Path(__file__).parents[3]


async def test_make_run_takes_another_port(tmp_path: Path) -> None:
    listed = subprocess.run(  # noqa: ASYNC221 (a moment)
        ["make", "-n", "run"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    start = listed.splitlines()[-1]  # the commands before it set up what the tests already have
    url = f"http://127.0.0.1:{(port := free_port())}"
    mine = {"RUNYARD_PORT": str(port), "RUNYARD_DATABASE_URL": f"sqlite:///{tmp_path}/runyard.db"}
    folders = {"RUNYARD_WORKSPACES": str(tmp_path / "work"), "RUNYARD_CHECKPOINT_FOLDER": str(tmp_path / "checkpoints")}
    environment, quiet = {**os.environ, **mine, **folders}, subprocess.DEVNULL
    made = subprocess.Popen(  # noqa: ASYNC220 (it starts at once)
        ["sh", "-c", start], cwd=ROOT, env=environment, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        async with httpx2.AsyncClient(base_url=url) as http:

            async def channels() -> list[str]:
                try:
                    found = (await http.get("/api/channels")).json()["channels"]
                except httpx2.TransportError:
                    return []
                return sorted(channel["name"] for channel in found)

            async def are_open() -> bool:
                return await channels() == ["ledger", "pier"]

            await eventually("the server answers, with its rooms", are_open)
    finally:
        os.killpg(made.pid, signal.SIGTERM)
        made.wait(PATIENCE)
