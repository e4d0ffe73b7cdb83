"""Settings of agents: which ones, what they may use, and the limits of what they read and write."""

from pathlib import Path
from typing import Annotated

from runyard.settings.model import SettingsGroup, setting
from runyard.settings.values import Count


def _checked_models(models: str | None) -> str | None:
    if "//" in (models or ""):
        raise ValueError("must be names of models, separated by commas, without addresses")
    return models


class AgentSettings(SettingsGroup):
    app: Path | None = setting(
        default=None, description="The Python file or folder that declares the agents; without it, the demo."
    )
    default_agent: str | None = setting(
        default=None, description="The agent that answers if a request names none; without it, the app's own default."
    )
    workspaces: Path = setting(
        default=Path(".runyard/workspaces"),
        description="The folder for files that tools read and write; workers on several machines must share it.",
    )
    agent_models: Annotated[str | None, _checked_models] = setting(
        default=None,
        description="The models that agents created over the API may use, separated by commas; by default those of the"
        " declared agents.",
    )
    agent_max_usd: float = setting(
        default=1.0,
        gt=0,
        description="The largest budget per run, in US dollars, of an agent created over the API.",
    )
    max_message_chars: Count = setting(
        default=262_144, description="The longest message that is accepted, in characters."
    )
    max_queued_per_lane: Count = setting(
        default=1_000,
        description="Runs that may be queued in one lane, which is one thread; further ones are rejected.",
    )
    max_queued_per_owner: int | None = setting(
        default=100_000,
        gt=0,
        description="Runs of one owner that may be queued, approximately; further ones are rejected.",
    )
    max_event_bytes: Count = setting(
        default=1_048_576,
        description="The largest event of a run, except for answers; a run with a larger one ends with an error.",
    )
    max_answer_bytes: Count = setting(
        default=16_777_216,
        description="The largest answer of a run and the largest message of a model; each is stored as one event.",
    )
    max_tool_output_bytes: Count = setting(
        default=262_144, description="The largest output of a tool; a larger one is an error that its caller receives."
    )
    tell_tool_errors: bool = setting(
        default=True, description="Give a model the text of an exception that a tool raised; otherwise only its class."
    )
    max_history_chars: Count = setting(
        default=1_000_000, description="Characters of earlier messages that an agent receives, newest first."
    )
    approval_seconds: float | None = setting(
        default=None,
        gt=0,
        description="Seconds before an undecided approval counts as rejected; without it, never.",
    )
    max_children: Count = setting(default=100, description="Child runs that one run may start.")
    max_child_depth: Count = setting(default=5, description="How deep child runs may be nested.")
    event_seconds: float = setting(
        default=86_400,
        gt=0,
        description="Seconds for which a delivered event is kept for a run that waits for it later.",
    )
    group_pause_min_seconds: float = setting(
        default=1,
        ge=0,
        le=3600,
        description="The shortest pause between the answers of two agents in a channel.",
    )
    group_pause_max_seconds: float = setting(
        default=5,
        ge=0,
        le=3600,
        description="The longest such pause; each pause is a random time between the two.",
    )
