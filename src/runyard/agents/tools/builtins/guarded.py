"""Tools that always ask a person, whatever anybody declares: code execution and file access."""

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from runyard.agents.tools.tool import Effects, Tool

P = ParamSpec("P")
R = TypeVar("R")


class GuardedTool(Tool[P, R]):
    """Its `approval` cannot be switched off, by no option, no setting and no assignment."""

    def needs_approval(self, given: Mapping[str, Any]) -> bool:
        return True


def guarded(effects: Effects, *, timeout: float | None = None) -> Callable[[Callable[P, R]], GuardedTool[P, R]]:
    def make(fn: Callable[P, R]) -> GuardedTool[P, R]:
        return GuardedTool(fn, approval="always", effects=effects, timeout=timeout)

    return make
