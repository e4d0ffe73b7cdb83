"""Real pods for the flow tests: started, signalled, watched and always cleaned up.

`Nursery` controls `pod_process.py`: one process per test session that forks a pod on demand. If the test process dies,
the nursery sees its input end and kills every pod.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal, Self

from tests.support.eventually import PATIENCE

ROOT = Path(__file__).parents[3]
APP = ROOT / "tests" / "support" / "apps" / "flow_app.py"

Kind = Literal["serve", "api", "worker", "once", "celery", "processes"]


class PodDied(Exception):
    """A pod ended before it was ready."""


class Pod:
    """One process. `url` is empty if it answers no HTTP."""

    def __init__(self, name: str, kind: Kind, log: Path) -> None:
        self.name = name
        self.kind = kind
        self.log = log
        self.pid = 0
        self.url = ""
        self.born: Future[int] = Future()
        self.ready: Future[str] = Future()
        self.ended: Future[int] = Future()

    @property
    def alive(self) -> bool:
        return not self.ended.done()

    def signal(self, number: signal.Signals) -> None:
        """Fails if the pod is gone already: then the fault that a test wanted did not happen."""
        assert self.alive, f"{self.name} has ended with {self.ended.result()} before it got {number.name}"
        os.kill(self.pid, number)

    async def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        assert await self.end() == -signal.SIGKILL

    def freeze(self) -> None:
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def terminate(self) -> None:
        self.signal(signal.SIGTERM)

    async def end(self, seconds: float = PATIENCE) -> int:
        """Wait until the process has ended; its exit code."""
        return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self.ended)), seconds)

    def said(self, action: str) -> int:
        """How often the pod has logged this action."""
        return len(self.logged(action))

    @property
    def worker_id(self) -> str:
        """Under which name its worker has its runs now. It takes another one when it has lost its lease."""
        return str(self.logged("worker.registered")[-1]["worker_id"])

    def logged(self, action: str) -> list[dict[str, Any]]:
        entries = [json.loads(line) for line in self._lines() if line.startswith("{")]
        return [entry for entry in entries if entry.get("action") == action]

    def _lines(self) -> list[str]:
        return self.log.read_text(errors="replace").splitlines() if self.log.exists() else []

    def last_words(self, lines: int = 40) -> str:
        return "\n".join(self._lines()[-lines:])


class Nursery:
    def __init__(self, log: Path, preload: str = "") -> None:
        """`preload`: modules, separated by a space, that are imported once and not in every pod."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNYARD_")}
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.scenario.pod_process"],
                cwd=ROOT,
                env=environment | {"PRELOAD": preload},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self._log = log
        self._names: dict[str, Pod] = {}
        self._pids: dict[int, Pod] = {}
        self._count = 0
        threading.Thread(target=self._listen, name="nursery", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE)

    async def start(self, kind: Kind, folder: Path, environment: dict[str, str], log_to: Path | None = None) -> Pod:
        """Fork a pod and return it when it is ready. `log_to`: where its lines go, if not to a separate file."""
        self._count += 1
        pod = Pod(f"{kind}-{self._count}", kind, folder / f"{kind}-{self._count}.log")
        self._names[pod.name] = pod
        assert self._process.stdin is not None
        spec = {"name": pod.name, "kind": kind, "log": str(log_to or pod.log), "env": environment}
        self._process.stdin.write(json.dumps(spec).encode() + b"\n")
        self._process.stdin.flush()
        ready, ended = asyncio.wrap_future(pod.ready), asyncio.wrap_future(pod.ended)
        either: set[asyncio.Future[Any]] = {ready, ended}
        await asyncio.wait(either, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done() or ready.cancelled():
            if pod.alive and pod.pid:
                await pod.kill()
            raise PodDied(f"{pod.name}: {pod.last_words()}\n{self._log.read_text(errors='replace')[-2000:]}")
        return pod

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._hear(json.loads(line))
        for pod in self._names.values():
            if pod.alive:
                pod.ended.set_result(-1)

    def _hear(self, message: dict[str, Any]) -> None:
        match message:
            case {"born": name, "pid": pid}:
                pod = self._pids[pid] = self._names[name]
                pod.pid = pid
                pod.born.set_result(pid)
            case {"ready": pid, "url": url}:
                pod = self._pids[pid]
                pod.url = url
                pod.ready.set_result(url)
            case {"ended": pid, "code": code}:
                self._pids.pop(pid).ended.set_result(code)
            case _:
                raise ValueError(message)
