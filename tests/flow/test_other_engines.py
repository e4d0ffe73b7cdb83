"""The example of docs/scaling.md for Dramatiq works as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

import dramatiq
import pytest
from dramatiq.brokers.stub import StubBroker

import runyard
from runyard.agents.declared.loading import load
from runyard.app.process import Process
from runyard.domain.api_key import LOCAL
from tests.support.pods import ROOT

AGENTS = """
import runyard
hello = runyard.scripted("hello", [{"tokens": ["Hello", " you"]}])
"""


async def test_dramatiq_works_until_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNYARD_DATABASE_URL", f"sqlite:///{tmp_path}/runs.db")
    (tmp_path / "agents.py").write_text(AGENTS)
    server = Process(runyard.Settings(), load(tmp_path / "agents.py"), worker=False)
    await server.start()
    runs = [(await server.engine.intake.start(LOCAL, "threads", "hello")).run_id for _ in range(2)]
    await server.stop()

    [example] = re.findall(r"```python\n(@dramatiq.*?)```", (ROOT / "docs/scaling.md").read_text(), re.DOTALL)
    broker = StubBroker()
    dramatiq.set_broker(broker)
    actor: dict[str, object] = {"dramatiq": dramatiq, "runyard": runyard}
    exec(example, actor)
    work = actor["work"]
    assert isinstance(work, dramatiq.Actor)
    work.send()
    worker = dramatiq.Worker(broker, worker_timeout=100, worker_threads=1)
    worker.start()
    broker.join(work.queue_name, timeout=60_000)
    worker.join()
    worker.stop()

    again = Process(runyard.Settings(), load(tmp_path / "agents.py"), worker=False)
    await again.start()
    ended = [(await again.store.get_run(LOCAL, run_id)).status.value for run_id in runs]
    await again.stop()
    assert ended == ["done", "done"]
