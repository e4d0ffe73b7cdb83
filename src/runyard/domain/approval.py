"""An approval: a question to a person that a run waits for. The first decision counts."""

from typing import Any, Literal

from msgspec import Struct

ApprovalState = Literal["pending", "approved", "rejected", "expired", "void"]
ApprovalKind = Literal["tool", "unknown_outcome", "question"]


class Approval(Struct, frozen=True, kw_only=True):
    """A question and its decision. `void`: the run ended without a decision. `expired`: no decision came before
    `expires_at`, which counts as a rejection."""

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
