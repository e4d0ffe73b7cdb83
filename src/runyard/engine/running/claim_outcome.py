"""How the claim of a run ended, for callers that execute one run at a time."""

from collections.abc import Mapping
from typing import Literal

from runyard.domain.runs.run import Status

ClaimOutcome = Literal["done", "error", "canceled", "waiting", "released", "lost"]
ENDINGS: Mapping[Status, ClaimOutcome] = {
    Status.DONE: "done",
    Status.ERROR: "error",
    Status.CANCELED: "canceled",
}
