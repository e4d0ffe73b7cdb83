"""What an agent thinks with: its model, how much it may spend on one run, and how far back it remembers."""

from collections.abc import Mapping, Sequence
from typing import Any

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


class ModelSettings(Struct, frozen=True, kw_only=True):
    """Checked when it is made. `turns` are the scripted model's; `options` go to the provider and may hold a key, so
    they are shown nowhere."""

    model: str
    turns: Turns = ()
    options: Mapping[str, Any] = {}
    max_turns: int = 5
    max_usd: float = 0.10
    max_output_tokens: int | None = None
    max_context_tokens: int | None = None
    history: int = 20

    def __post_init__(self) -> None:
        if not self.model:
            raise Invalid('A model is a name that litellm knows, such as "openai/gpt-5-mini", or "scripted".')
        if self.is_scripted != bool(self.turns):
            raise Invalid('The model "scripted" has turns, and only that one does.')
        if not callable(self.turns):
            parse(self.turns)
        limits = (self.max_turns, self.max_usd, self.max_output_tokens, self.max_context_tokens)
        if any(limit is not None and not limit > 0 for limit in limits):
            raise Invalid("max_turns, max_usd, max_output_tokens and max_context_tokens must be more than 0.")
        if not 0 <= self.history <= MOST_HISTORY:
            raise Invalid(f"history is the number of earlier runs that the model is told of: 0 to {MOST_HISTORY}.")

    def __repr__(self) -> str:
        return f"Mind({self.model!r})"

    @property
    def is_scripted(self) -> bool:
        return self.model == SCRIPTED

    def within(self, budget: Budget) -> "ModelSettings":
        """The same, with the tighter limits."""
        return replace(
            self,
            max_output_tokens=_tighter(self.max_output_tokens, budget.max_output_tokens),
            max_context_tokens=_tighter(self.max_context_tokens, budget.max_context_tokens),
        )

    def digest(self, instructions: str, tools: Sequence[Tool[..., Any]]) -> bytes:
        """What it is made of, as far as a run could tell."""
        turns = source(self.turns) if callable(self.turns) else msgspec.json.encode(self.turns)
        shape = [self.model, instructions, [(tool.name, tool.description, tool.schema) for tool in tools]]
        return msgspec.json.encode(shape) + turns


def _tighter(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
