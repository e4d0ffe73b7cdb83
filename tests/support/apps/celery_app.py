"""The Celery app of the product as a user extends it: it records its tasks, and `VISIBILITY` shortens the time after
which Redis delivers a message again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from celery import signals

from runyard.executors.celery import app
from tests.support.scenario.facts_and_gates import FOLDER, Notes

notes = Notes(Path(os.environ[FOLDER]))
if seconds := os.environ.get("VISIBILITY"):
    often = {"unacked_restore_interval": 1, "unacked_restore_throttle": 1}  # by default every 100 s
    options = app.conf.broker_transport_options | often | {"visibility_timeout": int(seconds)}
    app.conf.broker_transport_options = options


def _record(task_id: str, **_: Any) -> None:
    notes.write("tasks", task_id, os.getpid())


signals.task_prerun.connect(_record, weak=False)
