"""Helpers for the tests of the agents: a service without a network, and its streams as events."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

TERMINAL = {"final", "complete", "done"}
Event = tuple[str, dict[str, Any]]


@contextmanager
def asked(main: Any, folder: Path) -> Iterator[TestClient]:
    """A client of the service that a `main.py` declares, with a database in this folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNYARD_DATABASE_URL", f"sqlite:///{folder}/agent.db")
        application = main.app()
    with TestClient(application) as client:
        yield client


def events(body: str) -> list[Event]:
    """The events of a stream: each has a name and JSON."""
    blocks = [block.split("\n") for block in body.split("\n\n") if block and not block.startswith(":")]
    found = []
    for lines in blocks:
        names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
        data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
        assert len(names) == 1, "an event has one event line"
        found.append((names[0], json.loads("\n".join(data))))
    return found


def terminal_of(found: list[Event]) -> dict[str, Any]:
    """The one terminal event, which is the last, with what every one must have."""
    names = [name for name, _ in found]
    assert sum(name in TERMINAL for name in names) == 1, "a stream has exactly one terminal event"
    assert names[-1] in TERMINAL, "the terminal event is the last"
    data = found[-1][1]
    for key in ("request_id", "task_type", "status"):
        assert isinstance(data.get(key), str), f"the terminal event has a {key}"
        assert data[key], f"the {key} of the terminal event is not empty"
    return data
