"""Approvals and other waits, and their answers."""

from typing import Any, Literal

from msgspec import UNSET

from runyard.domain.events.base import PayloadBase, Usage
from runyard.domain.wait import ValueKind


class ApprovalRequested(PayloadBase, frozen=True):
    """A person is asked for a decision. `unknown_outcome`: the call had started when its worker died, and it is unknown
    whether it took effect."""

    type = "approval.requested"
    approval_id: str
    call_id: str
    kind: Literal["tool", "unknown_outcome", "question"]  # "question": a wait of the kind `confirmation`
    tool: str
    input: Any
    expires_at: int | None = None


class ApprovalDecided(PayloadBase, frozen=True):
    """The decision on an approval. The first one counts."""

    type = "approval.decided"
    approval_id: str
    decision: Literal["approved", "rejected", "expired"]
    by: str
    input: Any = None
    reason: str | None = None


class WaitRequested(PayloadBase, frozen=True):
    """The run waits for a value. `name` is the name of the client's tool, of the child's agent or of the event.

    `input` is the input of the client's tool, the message for the child or the key of the event. `schema` is the JSON
    Schema of the answer. `child` is the id of the child run. After `expires_at` a timer is due, and any other wait is
    answered with `default`, or expires if it has none."""

    type = "wait.requested"
    wait_id: str
    call_id: str
    kind: ValueKind
    name: str
    prompt: str | None = None
    input: Any = None
    schema: dict[str, Any] | None = None
    default: Any = UNSET
    child: str | None = None
    expires_at: int | None = None


class WaitAnswered(PayloadBase, frozen=True):
    """The answer to a wait. The first one counts. `failed`: the child or the client's tool ended with an error (`code`
    and `message`). `usage` is the usage of the child."""

    type = "wait.answered"
    wait_id: str
    outcome: Literal["answered", "failed", "expired"]
    by: str
    value: Any = None
    code: str | None = None
    message: str | None = None
    usage: Usage | None = None
