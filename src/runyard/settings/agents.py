"""Settings of agents: which ones, what they may use, and the limits of what they read and write."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from runyard.settings.values import Count


def _checked_models(models: str | None) -> str | None:
    if "//" in (models or ""):
        raise ValueError("must be names of models, separated by commas, without addresses")
    return models


class AgentSettings(BaseModel):
    app: Path | None = Field(
        None, description="The Python file or folder that declares the agents; without it, the demo."
    )
    default_agent: str | None = Field(
        None, description="The agent that answers if a request names none; without it, the app's own default."
    )
    workspaces: Path = Field(
        Path(".runyard/workspaces"),
        description="The folder for files that tools read and write; workers on several machines must share it.",
    )
    agent_models: Annotated[str | None, AfterValidator(_checked_models)] = Field(
        None,
        description="The models that agents created over the API may use, separated by commas; by default those of the"
        " declared agents.",
    )
    agent_max_usd: float = Field(
        1.0,
        gt=0,
        allow_inf_nan=False,
        description="The largest budget per run, in US dollars, of an agent created over the API.",
    )
    max_message_chars: Count = Field(262_144, description="The longest message that is accepted, in characters.")
    max_queued_per_lane: Count = Field(
        1_000, description="Runs that may be queued in one lane, which is one thread; further ones are rejected."
    )
    max_queued_per_owner: int | None = Field(
        100_000, gt=0, description="Runs of one owner that may be queued, approximately; further ones are rejected."
    )
    max_event_bytes: Count = Field(
        1_048_576,
        description="The largest event of a run, except for answers; a run with a larger one ends with an error.",
    )
    max_answer_bytes: Count = Field(
        16_777_216,
        description="The largest answer of a run and the largest message of a model; each is stored as one event.",
    )
    max_tool_output_bytes: Count = Field(
        262_144, description="The largest output of a tool; a larger one is an error that its caller receives."
    )
    tell_tool_errors: bool = Field(
        True, description="Give a model the text of an exception that a tool raised; otherwise only its class."
    )
    max_history_chars: Count = Field(
        1_000_000, description="Characters of earlier messages that an agent receives, newest first."
    )
    approval_seconds: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Seconds before an undecided approval counts as rejected; without it, never.",
    )
    group_pause_min_seconds: float = Field(
        1,
        ge=0,
        le=3600,
        allow_inf_nan=False,
        description="The shortest pause between the answers of two agents in a channel.",
    )
    group_pause_max_seconds: float = Field(
        5,
        ge=0,
        le=3600,
        allow_inf_nan=False,
        description="The longest such pause; each pause is a random time between the two.",
    )
