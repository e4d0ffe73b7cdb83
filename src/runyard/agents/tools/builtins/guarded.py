"""Tools that always need approval, whatever the app declares: code execution and file access."""

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from runyard.agents.tools.tool import Effects, Tool

P = ParamSpec("P")
R = TypeVar("R")


class GuardedTool(Tool[P, R]):
    """A tool whose approval cannot be switched off by an option, a setting or an assignment."""

    def needs_approval(self, given: Mapping[str, Any]) -> bool:
        return True


def guarded(effects: Effects, *, timeout: float | None = None) -> Callable[[Callable[P, R]], GuardedTool[P, R]]:
    """Make a guarded tool of a function, as a decorator."""

    def make(fn: Callable[P, R]) -> GuardedTool[P, R]:
        return GuardedTool(fn, approval="always", effects=effects, timeout=timeout)

    return make
