"""A wait: something that a run needs before it can continue. It is a row and two events of the run's log.

The run leaves its worker and continues with the answer. The first answer counts. Approvals keep their own events in the
log (`approval.requested`, `approval.decided`); every other kind writes `wait.requested` and `wait.answered`.

| kind | what it waits for |
|---|---|
| tool, unknown_outcome, confirmation | the approval of a person |
| question | a value from a person |
| client_tool | the result of a tool that a client calls |
| child | the end of another run |
| timer | a time |
| event | an event that a machine delivers |
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

WaitStatus = Literal["pending", "approved", "rejected", "answered", "failed", "expired", "void"]
ApprovalKind = Literal["tool", "unknown_outcome", "confirmation"]
ValueKind = Literal["question", "client_tool", "child", "timer", "event"]
WaitKind: TypeAlias = ApprovalKind | ValueKind
APPROVALS: frozenset[WaitKind] = frozenset(get_args(ApprovalKind))
# Kinds that a person or a client answers. The others are answered by the end of a run, a time or an event.
FROM_CLIENTS: frozenset[WaitKind] = APPROVALS | {"question", "client_tool"}


class ClientWait(Struct, kw_only=True):
    """A wait that a client may answer, as a translation of the log knows it. `part`: the last part of the translation
    that ended while it was open, 0 if none did. `shown`: the id of the tool call that shows it to
    the client, if one does."""

    kind: ApprovalKind | Literal["question", "client_tool"]
    name: str
    input: Any = None
    call_id: str = ""
    prompt: str | None = None
    schema: dict[str, Any] | None = None
    expires_at: int | None = None
    part: int = 0
    is_open: bool = True
    is_shown: bool = False
    shown: str | None = None

    @property
    def is_approval(self) -> bool:
        return self.kind in APPROVALS

    @property
    def approval_question(self) -> str:
        """The question of an approval, without the input of its call."""
        if self.kind == "confirmation" and isinstance(self.input, Mapping):
            return str(self.input.get("question", self.name))
        if self.kind == "unknown_outcome":
            return f"It is unknown whether {self.name} took effect. Call it again?"
        return f"Call {self.name}?"


class Wait(Struct, frozen=True, kw_only=True):
    """A wait and its answer.

    `void`: the run ended without an answer. `expired`: no answer came before `expires_at`, which for an approval counts
    as a rejection; a timer is answered then. `failed`: the child or the client's tool ended with an error.

    `input` is the input of the tool to approve. For other kinds it is an object with `prompt`, `input`, `schema` and
    `default`, without those that are not set. `target` is what answers a child or an event wait, see `child_target` and
    `event_target`."""

    id: str
    run_id: str
    call_id: str
    kind: WaitKind
    name: str
    input: Any = None
    state: WaitStatus = "pending"
    answered_by: str | None = None
    created_at: int
    answered_at: int | None = None
    expires_at: int | None = None
    target: str | None = None

    @property
    def is_approval(self) -> bool:
        return self.kind in APPROVALS

    @property
    def has_default(self) -> bool:
        """Whether a value is used if no answer comes in time."""
        return not self.is_approval and isinstance(self.input, dict) and "default" in self.input


class KeptEvent(Struct, frozen=True, kw_only=True):
    """An event that a machine delivered. `id` is the sender's, unique per owner. It is kept until `expires_at` for a
    run that waits for it later."""

    id: str
    owner: str
    name: str
    target: str
    data: Any = None
    created_at: int
    expires_at: int


def child_target(run_id: str) -> str:
    return f"run:{run_id}"


def event_target(owner: str, name: str, key: str | None) -> str:
    """Return the target of waits for events of this name and key. It is a hash, because keys may be content."""
    return f"event:{sha256(msgspec.json.encode([owner, name, key])).hexdigest()}"
