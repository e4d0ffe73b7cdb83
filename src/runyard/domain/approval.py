"""An approval: a question to a person that a run waits on. The first decision counts."""

from typing import Any, Literal

from msgspec import Struct

ApprovalState = Literal["pending", "approved", "rejected", "expired", "void"]
ApprovalKind = Literal["tool", "unknown_outcome", "question"]


class Approval(Struct, frozen=True, kw_only=True):
    """`void`: the run ended before anybody answered. `expired`: nobody answered until `expires_at`, which is a no."""

    id: str
    run_id: str
    call_id: str
    kind: ApprovalKind
    tool: str
    input: Any = None
    state: ApprovalState = "pending"
    decided_by: str | None = None
    created_at: int
    decided_at: int | None = None
    expires_at: int | None = None
