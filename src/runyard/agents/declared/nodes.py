"""Nodes of a plan agent. They run one after another.

The plan is checked when it is declared: names are unique, because a run that resumes knows finished nodes by name.
"""

import math
import re
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Any, TypeAlias, get_args

from runyard.agents.declared.functions import check_function, source
from runyard.agents.tools.tool import Effects
from runyard.errors import Invalid

TIMEOUT_SECONDS = 10.0
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)

# `async def f(ctx: NodeContext)`. Not spelled out, because NodeContext imports this module.
NodeFunction: TypeAlias = Callable[[Any], Awaitable[Any]]


class Node:
    """One step of a plan: a function and its limits.

    Args:
        name: The name of the node: 1 to 64 letters, digits, `-`, `_` or `.`. Unique in the plan.
        fn: An `async def f(ctx)` that gets a `NodeContext` and returns JSON.
        timeout: The seconds that the function may take.
        effects: What a second call would do. A node that had started when its worker died is called again with the
            same `ctx.idempotency_key()`; for `"once"` the plan's `on_unknown` decides.

    Raises:
        Invalid: If the function is not an `async def f(ctx)`, or an option is wrong.

    Example:
        >>> async def ping(ctx: runyard.NodeContext) -> str:
        ...     return "pong"
        >>> runyard.Node("Ping", ping, timeout=2)
        Node('Ping')
    """

    name: str
    fn: NodeFunction
    timeout: float
    effects: Effects

    def __init__(
        self, name: str, fn: NodeFunction, *, timeout: float = TIMEOUT_SECONDS, effects: Effects = "idempotent"
    ) -> None:
        check_function(fn, "node")
        self.name = _checked_name(name)
        self.fn = fn
        self.timeout = _checked_timeout(name, timeout)
        self.effects = effects
        if effects not in get_args(Effects):
            raise Invalid(f"Node {name}: effects must be one of {', '.join(get_args(Effects))}.")

    def __repr__(self) -> str:
        return f"Node({self.name!r})"

    @property
    def digest(self) -> bytes:
        """Bytes that change when the node changes."""
        return sha256(f"{self.name} {self.timeout} {self.effects} ".encode() + source(self.fn)).digest()


def checked(nodes: object) -> tuple[Node, ...]:
    """Return the nodes of a plan; Invalid if they are wrong."""
    if isinstance(nodes, str | bytes) or not isinstance(nodes, Sequence):
        raise Invalid("The plan is not a list of nodes. Pass [runyard.Node(...), ...].")
    for place, node in enumerate(nodes):
        if not isinstance(node, Node):
            raise Invalid(f"Entry {place} of the plan is not a runyard.Node.")
    names = [node.name for node in nodes]
    for name in names:
        if names.count(name) > 1:
            raise Invalid(f"Two nodes of the plan are named {name}.")
    return tuple(nodes)


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Invalid("A node's name has 1 to 64 letters, digits or any of - _ . and nothing else.")
    return name


def _checked_timeout(name: str, timeout: object) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise Invalid(f"Node {name}: timeout must be a number of seconds, more than 0.")
    return float(timeout)
