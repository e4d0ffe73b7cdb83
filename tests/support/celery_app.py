"""The Celery app of the product as a user extends it: it records its tasks, and `VISIBILITY` shortens the time after
which Redis delivers a message again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from celery import signals

from runyard.executors.celery import app
from tests.support.facts_and_gates import FOLDER, Notes

notes = Notes(Path(os.environ[FOLDER]))
if seconds := os.environ.get("VISIBILITY"):
    app.conf.broker_transport_options = {**app.conf.broker_transport_options, "visibility_timeout": int(seconds)}


def _record(task_id: str, **_: Any) -> None:
    notes.write("tasks", task_id, os.getpid())


signals.task_prerun.connect(_record, weak=False)
