"""A push: an address that gets the updates of a run. It is a cursor over the run's log, as the outbox has one."""

from typing import Any

from msgspec import Struct


class Push(Struct, frozen=True, kw_only=True):
    """A push of a run. `kind` is the face that makes its requests. `data` is what that face needs: address, secrets.

    Events up to `seq` are delivered. `failures` counts the attempts since the last success. `due_at` is when the next
    attempt may begin; None: everything is delivered, or the attempts are over."""

    run_id: str
    id: str
    kind: str
    data: Any = None
    seq: int = 0
    failures: int = 0
    due_at: int | None = None
    created_at: int = 0
