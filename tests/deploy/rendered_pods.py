"""Pods of the rendered chart as processes on this machine.

Each runs the rendered command with the rendered environment in bubblewrap: the file system is read-only except for the
volumes that the chart mounts, and the user has the id that the chart names and no rights. Addresses and ports are those
of this machine, because all pods share it. Features of a cluster are missing: scheduling, Services, network policies.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import httpx2

from tests.deploy.chart import ROOT, Container, Rendered, container_of
from tests.support.eventually import PATIENCE, eventually
from tests.support.servers.postgres_server import free_port
from tests.support.session.missing_programs import need

BIN = Path(sys.executable).parent
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
# What Kubernetes adds for a Service named `runyard`, unless enableServiceLinks is false. The product ignores it.
SERVICE_LINKS = {
    "RUNYARD_SERVICE_HOST": "10.96.0.7",
    "RUNYARD_SERVICE_PORT": "80",
    "RUNYARD_SERVICE_PORT_HTTP": "80",
    "RUNYARD_PORT_80_TCP": "tcp://10.96.0.7:80",
    "RUNYARD_PORT_80_TCP_PROTO": "tcp",
}


class RenderedPod:
    """One pod. `folder` holds its volumes and its log."""

    def __init__(self, rendered: Rendered, component: str, folder: Path) -> None:
        self.component = component
        self.container: Container = container_of(rendered, component)
        self.grace: float = rendered.pods()[component]["spec"].get("terminationGracePeriodSeconds", 30)
        self._context: dict[str, Any] = rendered.pods()[component]["spec"]["securityContext"]
        self.ports = {"http": free_port(), "metrics": free_port()}
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._pid = 0
        folder.mkdir()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}"

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    def environment(self) -> dict[str, str]:
        here = {
            "RUNYARD_HOST": "127.0.0.1",
            "RUNYARD_METRICS_HOST": "127.0.0.1",
            "RUNYARD_PORT": str(self.ports["http"]),
            "RUNYARD_METRICS_PORT": str(self.ports["metrics"]),
        }
        assert self.container.env.keys() >= here.keys()
        return {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": "/data", **SERVICE_LINKS, **self.container.env, **here}

    def start(self) -> None:
        """Start the rendered command."""
        read, write = os.pipe()
        with (self._folder / "log").open("ab") as log:
            command = self._contained(self.container.command, ("--info-fd", str(write)))
            self._process = subprocess.Popen(
                command, env=self.environment(), stdout=log, stderr=log, pass_fds=(write,), start_new_session=True
            )
        os.close(write)
        with os.fdopen(read) as info:
            self._pid = json.loads(info.read())["child-pid"]

    def execute(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run another command in the container, as `kubectl exec` does."""
        return subprocess.run(
            self._contained(command),
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def _contained(self, command: Sequence[str], options: Sequence[str] = ()) -> list[str]:
        program = str(BIN / command[0]) if (BIN / command[0]).exists() else command[0]
        shown: list[str] = []
        for each in sorted(Path("/").iterdir()):
            is_link = each.is_symlink()
            shown += ["--symlink", os.readlink(each), str(each)] if is_link else ["--ro-bind", str(each), str(each)]
        for place in sorted(self.container.writable):
            volume = self._folder / place.strip("/").replace("/", "-")
            volume.mkdir(exist_ok=True)
            shown += ["--bind", str(volume), place]
        for place in {str(ROOT), sys.prefix, sys.base_prefix}:  # where a volume may hide them
            shown += ["--ro-bind", place, place]
        user = ["--unshare-user", "--uid", str(self._context["runAsUser"]), "--gid", str(self._context["runAsGroup"])]
        rights = ["--cap-drop", "ALL", "--die-with-parent", "--chdir", "/data"]
        return [str(need("bwrap")), *options, *user, *rights, *shown, "--remount-ro", "/", "--", program, *command[1:]]

    def passes(self, probe: str) -> bool:
        """Send the probe of the kubelet."""
        asked = self.container.spec[probe]["httpGet"]
        url = f"http://127.0.0.1:{self.ports[asked['port']]}{asked['path']}"
        with suppress(OSError), urlopen(url, timeout=self.container.spec[probe]["timeoutSeconds"]):
            return True
        return False

    def wait(self, seconds: float = PATIENCE) -> int:
        assert self._process is not None
        return self._process.wait(seconds)

    def terminate(self) -> float:
        """Send SIGTERM and wait for the end; return how long it took. TimeoutExpired if Kubernetes would kill it."""
        began = time.monotonic()
        os.kill(self._pid, signal.SIGTERM)
        assert self.wait(self.grace) == 0, self.log[-2000:]
        return time.monotonic() - began

    def end(self) -> None:
        """Kill it; do nothing if it has ended."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()  # --die-with-parent: the pod ends with it
            self._process.wait(PATIENCE)


@contextmanager
def running(rendered: Rendered, component: str, folder: Path) -> Iterator[RenderedPod]:
    """Start a pod, and end it at last."""
    pod = RenderedPod(rendered, component, folder)
    pod.start()
    try:
        yield pod
    finally:
        pod.end()


async def ready(pod: RenderedPod) -> RenderedPod:
    """Wait until it passes every probe."""
    for probe in PROBES:
        await eventually(f"{pod.component} passes its {probe}", partial(asyncio.to_thread, pod.passes, probe))
    return pod


def client_of(serve: RenderedPod) -> httpx2.AsyncClient:
    """A client with a key that is made as NOTES.txt says."""
    made = serve.execute("runyard", "keys", "create", "--owner", "me", "--scope", "all")
    assert made.returncode == 0, made.stderr
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    return httpx2.AsyncClient(base_url=serve.url, headers=headers, timeout=PATIENCE)


async def posted(http: httpx2.AsyncClient, agent: str, thread: str | None = None) -> tuple[str, str]:
    """Send a message; return the thread and the run."""
    thread = thread or (await http.post("/api/threads", json={})).json()["thread_id"]
    answer = await http.post(f"/api/threads/{thread}/messages", json={"content": "go", "agent": agent})
    assert answer.status_code == 201, answer.text
    return thread, answer.json()["run_id"]


async def status(http: httpx2.AsyncClient, run: str) -> str:
    return str((await http.get(f"/api/runs/{run}")).json()["status"])
