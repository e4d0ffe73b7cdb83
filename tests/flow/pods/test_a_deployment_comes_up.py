"""deploy/: what the compose file says is what the settings know, and its commands and health checks really work.

No container engine is needed: every command of a service and every health check is run as a process, in the order that
`depends_on` demands, on a private Postgres and behind a real nginx with the shipped configuration.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml  # type: ignore[import-untyped]

from runyard.base.sse import Parser
from runyard.settings import OTHER_VARIABLES, Settings, variable
from tests.support.eventually import PATIENCE, eventually
from tests.support.servers.nginx_server import PrivateNginx
from tests.support.servers.postgres_server import free_port

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if service["image"] == "runyard"]


def test_every_variable_of_the_compose_file_and_the_image_is_a_setting() -> None:
    known = {variable(name) for name in Settings.fields} | set(OTHER_VARIABLES)
    text = (ROOT / "deploy" / "compose.yaml").read_text() + (ROOT / "Dockerfile").read_text()
    used = set(re.findall(r"RUNYARD_[A-Z_]+", text))
    assert used - known == set()
    assert {"RUNYARD_DATABASE_URL", "RUNYARD_METRICS_PORT"} <= used


@pytest.mark.req("S0.40")
def test_the_migration_ends_before_any_pod_begins_and_everything_has_a_health_check() -> None:
    assert sorted(OURS) == ["api-1", "api-2", "migrate", "worker-1", "worker-2"]
    assert SERVICES["migrate"]["command"] == ["runyard", "migrate"]
    assert SERVICES["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    for name in OURS:
        if name != "migrate":
            assert SERVICES[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
            grace = float(SERVICES[name]["stop_grace_period"].removesuffix("s"))
            assert grace > float(SERVICES[name]["environment"]["RUNYARD_DRAIN_SECONDS"])
    assert all("healthcheck" in service for name, service in SERVICES.items() if name != "migrate")


def test_the_image_has_no_root_and_says_whether_it_is_well() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER runyard$", text, re.M)
    assert "HEALTHCHECK" in text
    assert text.index("USER runyard") < text.index('CMD ["runyard"')


def test_a_new_volume_for_workspaces_belongs_to_the_user_of_the_image() -> None:
    """A volume takes over the owner of the folder that it is mounted at, if the image has that folder."""
    text = (ROOT / "Dockerfile").read_text()
    [place] = {volume.split(":")[1] for name in OURS for volume in SERVICES[name].get("volumes", ())}
    made = re.search(r"install -d -o runyard -g runyard -m 0700 (.*)$", text, re.M)
    assert made is not None
    assert place in made[1].split()
    assert text.index(made[0]) < text.index("VOLUME")


class Deployment:
    """The services as processes on this machine: each has its own port instead of its own address."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.dsn = dsn
        self.folder = folder
        self.ports = {name: free_port() for name in OURS}
        self.nginx = PrivateNginx(folder, [self.ports["api-1"], self.ports["api-2"]])

    def environment(self, name: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("RUNYARD_")}
        given = {key: str(value) for key, value in SERVICES[name]["environment"].items()}
        here = {"RUNYARD_DATABASE_URL": self.dsn, "RUNYARD_HOST": "127.0.0.1", "RUNYARD_DRAIN_SECONDS": "1"}
        port = "RUNYARD_METRICS_PORT" if "RUNYARD_METRICS_PORT" in given else "RUNYARD_PORT"
        assert given.keys() >= here.keys()
        return {**kept, **given, **here, port: str(self.ports[name]), "RUNYARD_METRICS_HOST": "127.0.0.1"}

    @contextmanager
    def running(self, name: str) -> Iterator[subprocess.Popen[bytes]]:
        program, *arguments = SERVICES[name]["command"]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [BIN / program, *arguments], cwd=self.folder, env=self.environment(name), stdout=log, stderr=log
            )
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
                process.wait(PATIENCE)

    def listens(self, name: str) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port(name)), timeout=1):
            return True
        return False

    def port(self, name: str) -> int:
        return self.nginx.port if name == "nginx" else self.ports[name]

    def is_healthy(self, name: str) -> bool:
        """The service's own health check, with the port that it has here."""
        kind, *command = SERVICES[name]["healthcheck"]["test"]
        assert kind == "CMD"
        port = self.port(name)
        command = [re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", word) for word in command]
        program = sys.executable if command[0] == "python" else command[0]
        return (
            subprocess.run([program, *command[1:]], capture_output=True, check=False, timeout=PATIENCE).returncode == 0
        )


@pytest.mark.req("S0.40")
async def test_the_commands_bring_up_everything_and_a_stream_comes_through_nginx(
    pg_database: str, tmp_path: Path
) -> None:
    made = Deployment(pg_database, tmp_path)
    with made.running("migrate") as migrating:
        assert migrating.wait(PATIENCE) == 0
    with ExitStack() as stack:
        pods = {name: stack.enter_context(made.running(name)) for name in OURS if name != "migrate"}
        stack.enter_context(made.nginx)
        key = _key(made)
        for name in (*pods, "nginx"):
            await eventually(f"{name} listens", partial(made.listens, name))
            await eventually(f"{name} is healthy", partial(made.is_healthy, name))
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(base_url=made.nginx.url, headers=headers, timeout=PATIENCE) as http:
            thread = (await http.post("/api/threads", json={})).json()["thread_id"]
            posted = await http.post(f"/api/threads/{thread}/messages", json={"content": "Find me a Python developer"})
            assert posted.status_code == 201, posted.text
            frames, pieces = await _followed(http, posted.json()["run_id"])
            assert frames[-1].event == "run.finished"
            assert pieces > 1, "nginx held the stream back"
            overview = (await http.get("/api/overview")).json()
            assert len(overview["workers"]) == 2
    assert {name: process.returncode for name, process in pods.items()} == dict.fromkeys(pods, 0)
    assert "?" not in (tmp_path / "access.log").read_text()


def _key(made: Deployment) -> str:
    arguments = ["keys", "create", "--owner", "me", "--scope", "all"]
    done = subprocess.run(
        [BIN / "runyard", *arguments],
        env={**made.environment("migrate"), "RUNYARD_PORT": "1"},
        cwd=made.folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return done.stdout.strip()


async def _followed(http: httpx2.AsyncClient, run_id: str) -> tuple[list[Any], int]:
    parser, frames, pieces = Parser(), [], 0
    async with http.stream("GET", f"/api/runs/{run_id}/log?after=0") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for chunk in response.aiter_raw():
            pieces += 1
            frames += parser.feed(chunk)
    assert [json.loads(frame.data)["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    return frames, pieces
