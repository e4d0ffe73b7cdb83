"""Nodes: what a plan agent is made of. A plan is a list of them, done one after another, in this order.

Checked when the agent is declared: names are unique, because a finished node is known by its name when a run goes on.
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

# `async def f(ctx: NodeContext)`. Not spelled out: the context comes from further out, and nothing imports in a circle.
NodeFunction: TypeAlias = Callable[[Any], Awaitable[Any]]


class Node:
    """One named piece of work: an `async def f(ctx)` that returns JSON, and how many seconds it may take.

    `effects` says what calling it twice would do. A node that had begun when its worker died is called again (with the
    same `ctx.idempotency_key()`), unless it is declared `once`: then the plan's `on_unknown` decides."""

    def __init__(
        self, name: str, fn: NodeFunction, *, timeout: float = TIMEOUT_SECONDS, effects: Effects = "idempotent"
    ) -> None:
        check_function(fn, "node")
        self.name = _checked_name(name)
        self.fn = fn
        self.timeout = _checked_timeout(name, timeout)
        self.effects: Effects = effects
        if effects not in get_args(Effects):
            raise Invalid(f"Node {name}: effects must be one of {', '.join(get_args(Effects))}.")

    def __repr__(self) -> str:
        return f"Node({self.name!r})"

    @property
    def digest(self) -> bytes:
        """Changes when the node does."""
        return sha256(f"{self.name} {self.timeout} {self.effects} ".encode() + source(self.fn)).digest()


def checked(nodes: object) -> tuple[Node, ...]:
    """The nodes of a plan, or Invalid."""
    if isinstance(nodes, str | bytes) or not isinstance(nodes, Sequence):
        raise Invalid("A plan is a list of nodes.")
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
