"""The result of a check. A check returns if its clause holds, and raises Broken or Unreached if not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from runyard.contract.probe import Evidence

Outcome = Literal["pass", "fail", "skip"]
Check = Callable[[Evidence], None]


class Broken(Exception):
    """The clause does not hold."""


class Unreached(Exception):
    """An earlier clause is broken, so this one cannot be checked."""


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    name: str
    clause: str
    outcome: Outcome
    why: str = ""


def clause(check: Check) -> str:
    return " ".join((check.__doc__ or "").split())


def finding(check: Check, evidence: Evidence) -> Finding:
    try:
        check(evidence)
    except Broken as broken:
        return Finding(check.__name__, clause(check), "fail", str(broken))
    except Unreached:
        return Finding(check.__name__, clause(check), "skip", "an earlier clause is broken")
    return Finding(check.__name__, clause(check), "pass")


def require(check: Check, evidence: Evidence) -> None:
    """Raise Unreached if the clause of this earlier check does not hold."""
    try:
        check(evidence)
    except Broken:
        raise Unreached from None
