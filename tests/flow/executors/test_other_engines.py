"""The examples of docs/scaling.md for arq and Dramatiq work as they are printed."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import dramatiq
import pytest
from dramatiq.brokers.stub import StubBroker

import runyard
from runyard.agents.declared.loading import load
from runyard.app.process import Process
from runyard.domain.api_key import LOCAL
from tests.support.scenario.pods import ROOT
from tests.support.servers.redis_server import PrivateRedis

AGENTS = """
import runyard
hello = runyard.scripted("hello", [{"tokens": ["Hello", " you"]}])
"""


# arq brings another parser of Redis (hiredis), so it is in the environment of the clients. Its packages come last here:
# Runyard keeps its own versions of all others.
ARQ = """
import sys
sys.path += [{packages!r}]
import arq, asyncio, runyard
from arq.connections import RedisSettings
from arq.worker import create_worker
{example}
async def main():
    pool = await arq.create_pool(RedisSettings.from_dsn({redis!r}))
    for number in range(2):
        await pool.enqueue_job("work", _job_id=str(number))
    worker = create_worker(WorkerSettings, redis_pool=pool, burst=True, max_jobs=1, handle_signals=False)
    await worker.main()
    assert worker.jobs_complete >= 2 and not worker.jobs_failed
    await worker.close()
asyncio.run(main())
"""


@pytest.fixture
async def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two queued runs of an app in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNYARD_DATABASE_URL", f"sqlite:///{tmp_path}/runs.db")
    (tmp_path / "agents.py").write_text(AGENTS)
    server = Process(runyard.Settings(), load(tmp_path / "agents.py"), worker=False)
    await server.start()
    accepted = [await server.engine.intake.start(LOCAL, "threads", "hello") for _ in range(2)]
    await server.stop()
    return [each.run_id for each in accepted]


async def statuses(runs: list[str]) -> list[str]:
    server = Process(runyard.Settings(), load(Path("agents.py")), worker=False)
    await server.start()
    found = [(await server.store.get_run(LOCAL, run_id)).status.value for run_id in runs]
    await server.stop()
    return found


def example_of(beginning: str) -> str:
    [example] = re.findall(rf"```python\n({beginning}.*?)```", (ROOT / "docs/scaling.md").read_text(), re.DOTALL)
    return str(example)


async def test_dramatiq_works_until_nothing_is_left(runs: list[str]) -> None:
    broker = StubBroker()
    dramatiq.set_broker(broker)
    actor: dict[str, object] = {"dramatiq": dramatiq, "runyard": runyard}
    exec(example_of("@dramatiq"), actor)
    work = actor["work"]
    assert isinstance(work, dramatiq.Actor)
    work.send()
    worker = dramatiq.Worker(broker, worker_timeout=100, worker_threads=1)
    worker.start()
    broker.join(work.queue_name, timeout=60_000)
    worker.join()
    worker.stop()
    assert await statuses(runs) == ["done", "done"]


async def test_a_job_of_arq_works_on_a_run(runs: list[str]) -> None:
    [packages] = (ROOT / ".venv-clients" / "lib").glob("python*/site-packages")
    with PrivateRedis() as redis:
        program = ARQ.format(packages=str(packages), example=example_of("async def work"), redis=redis.url)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stderr=asyncio.subprocess.PIPE)
        _, said = await process.communicate()
    assert process.returncode == 0, said.decode()
    assert await statuses(runs) == ["done", "done"]
