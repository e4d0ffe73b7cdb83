"""The model of an agent, its limits for one run, and how many earlier runs it reads."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from runyard.agents.declared.functions import source
from runyard.agents.tools.tool import Tool
from runyard.domain.task import Budget
from runyard.errors import Invalid
from runyard.models.scripted import Turns, parse

SCRIPTED = "scripted"
MOST_HISTORY = 200
ContextMode = Literal["summarize", "drop"]


class ModelSettings(Struct, frozen=True, kw_only=True):
    """The settings of a model agent, checked when they are made. `turns` belong to the scripted model. `options` go to
    the provider; they may hold a key and are never shown."""

    model: str
    turns: Turns = ()
    options: Mapping[str, Any] = {}
    max_turns: int = 5
    max_usd: float = 0.10
    max_output_tokens: int | None = None
    max_context_tokens: int | None = None
    history: int = 20
    context: ContextMode = "summarize"

    def __post_init__(self) -> None:
        if not self.model:
            raise Invalid('A model is a name that litellm knows, such as "openai/gpt-5-mini", or "scripted".')
        if self.is_scripted != bool(self.turns):
            raise Invalid('The model "scripted" needs turns, and no other model takes them.')
        if not callable(self.turns):
            parse(self.turns)
        limits = (self.max_turns, self.max_usd, self.max_output_tokens, self.max_context_tokens)
        if any(limit is not None and not limit > 0 for limit in limits):
            raise Invalid("max_turns, max_usd, max_output_tokens and max_context_tokens must be more than 0.")
        if not 0 <= self.history <= MOST_HISTORY:
            raise Invalid(f"history is the number of earlier runs that the model reads: 0 to {MOST_HISTORY}.")
        if self.context not in get_args(ContextMode):
            raise Invalid('context must be "summarize" or "drop".')

    def __repr__(self) -> str:
        return f"ModelSettings({self.model!r})"

    @property
    def is_scripted(self) -> bool:
        return self.model == SCRIPTED

    def within(self, budget: Budget) -> "ModelSettings":
        """Return these settings with the tighter of both limits."""
        return replace(
            self,
            max_output_tokens=_tighter(self.max_output_tokens, budget.max_output_tokens),
            max_context_tokens=_tighter(self.max_context_tokens, budget.max_context_tokens),
            max_usd=self.max_usd if budget.max_usd is None else min(self.max_usd, budget.max_usd),
        )

    def digest(self, instructions: str, tools: Sequence[Tool[..., Any]]) -> bytes:
        """Return bytes that change when the agent's behaviour changes."""
        turns = source(self.turns) if callable(self.turns) else msgspec.json.encode(self.turns)
        shape = [self.model, instructions, [(tool.name, tool.description, tool.schema) for tool in tools]]
        return msgspec.json.encode(shape) + turns


def _tighter(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
