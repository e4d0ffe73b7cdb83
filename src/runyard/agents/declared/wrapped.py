"""An agent of another framework, as it is declared: the framework's own object, and what every run of it gets."""

from collections.abc import Callable, Mapping
from typing import Any, get_args

import msgspec
from msgspec import Struct

from runyard.agents.tools.tool import Effects
from runyard.errors import Invalid

MOST_HISTORY = 200


class Wrapped(Struct, frozen=True, kw_only=True):
    """`agent` is the framework's object. `deps` is its dependencies or context: a value, or what `deps_factory` returns
    for the context of the run. `limits` are limits of the framework. `effects` are those of its tools, by name.
    `history` is the number of earlier runs. `options` are further options of the kind."""

    agent: Any
    deps: Any = None
    deps_factory: Callable[[Any], Any] | None = None
    limits: Any = None
    effects: Mapping[str, Effects] = {}
    history: int = 20
    options: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if self.deps is not None and self.deps_factory is not None:
            raise Invalid("Pass the dependencies, or a function that makes them, not both.")
        if not 0 <= self.history <= MOST_HISTORY:
            raise Invalid(f"history must be between 0 and {MOST_HISTORY}.")
        if not set(self.effects.values()) <= set(get_args(Effects)):
            raise Invalid(f"The effects of a tool are one of {', '.join(get_args(Effects))}.")

    def __repr__(self) -> str:
        return f"Wrapped({type(self.agent).__name__})"

    def digest(self) -> bytes:
        """Return bytes that change when the name, the model or the instructions of the framework's agent change."""
        model = getattr(self.agent, "model", None)
        named = model if isinstance(model, str) else getattr(model, "model_name", None)
        instructions = getattr(self.agent, "instructions", None)
        fixed = instructions if isinstance(instructions, str) else None
        return msgspec.json.encode([str(getattr(self.agent, "name", None)), str(named), fixed])
