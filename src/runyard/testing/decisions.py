"""The answers that a test gives to approvals."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from runyard.errors import RunyardError
from runyard.testing.result import AskedApproval


class Decision(Struct, frozen=True):
    """A decision with a reason or an edited input. Where neither is needed, True and False do.

    Args:
        approved: Whether the person approves.
        reason: The reason that the person gives.
        input: The input that the tool gets instead of the one that the agent asked for.

    Example:
        >>> @runyard.tool(approval="always")
        ... def pay(amount: int) -> str:
        ...     return f"paid {amount}"
        >>> @runyard.agent
        ... async def payer(ctx: runyard.Context) -> str:
        ...     return await ctx.call(pay, amount=100)
        >>> run_agent_sync(payer, decisions={"pay": Decision(True, input={"amount": 10})}).text
        'paid 10'
    """

    approved: bool
    reason: str | None = None
    input: dict[str, Any] | None = None


Decisions: TypeAlias = Mapping[str, bool | Decision] | Callable[[AskedApproval], bool | Decision]


class UndecidedApproval(RunyardError):
    """The agent waits for an approval, and the test does not decide it."""

    code = "undecided_approval"


def decide(decisions: Decisions | None, asked: AskedApproval) -> Decision:
    """Return the test's decision about this approval; UndecidedApproval if it has none."""
    if callable(decisions):
        found: bool | Decision | None = decisions(asked)
    else:
        known = decisions or {}
        found = known.get(asked.name, known.get(asked.tool))
    if found is None:
        raise UndecidedApproval(
            f"The agent waits for an approval of {asked.name!r}. Pass decisions={{{asked.name!r}: True}} to run_agent."
        )
    return found if isinstance(found, Decision) else Decision(found)
