"""Runyard as it is measured: `runyard serve` with the agents of `app.py`, on a database or on a fake commit.

`fake` is the whole stack over a store that keeps everything in dictionaries, so nothing is durable and nothing waits
for a disk. The difference to it is the cost of durability."""

import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from runyard.agents.declared.loading import load
from runyard.app import factories as opening
from runyard.app import process as wiring
from runyard.app import server as serving
from runyard.base.clock import Clock, SystemClock
from runyard.settings import Settings
from runyard.store import Store
from runyard.stores.memory import MemoryStore

FAKE = "fake"
APP = Path(__file__).with_name("app.py")
SLOTS = 2_000  # more runs at a time than any case asks for


def fake_commit(_: Settings, clock: Clock | None = None) -> Store:
    return MemoryStore(clock or SystemClock())


def main(database: str, traced: str, port: int, processes: int = 1, **more: Any) -> None:
    """`traced`: the address of a collector, or nothing. `more`: other settings."""
    url = "sqlite:///unused.db" if database == FAKE else database
    settings = Settings(
        database_url=url,
        port=port,
        log_level="error",
        max_queued_per_owner=None,
        otlp_endpoint=traced or None,
        slots=SLOTS,
        **more,
    )
    if processes > 1:
        sys.exit(serving.serve_in_processes(settings, processes, lambda: load(APP), keys="not_needed"))
    app = load(APP)
    with mock.patch.object(wiring, "open_store", fake_commit if database == FAKE else opening.open_store):
        serving.run(serving.serve(settings, app, keys="not_needed"))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[-1]), **json.loads(sys.argv[3] if len(sys.argv) > 4 else "{}"))
