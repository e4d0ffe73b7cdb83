"""Agents that the Claude Agent SDK runs: `runyard.claude("clerk", model="claude-sonnet-5", instructions="...")`.

The SDK calls the model and decides the next action; Runyard supplies prompt, tools and limits. The SDK has only
Runyard's tools, no settings of the machine, and a separate folder. In a channel or a DM an agent resumes its last
session there; the SDK keeps the transcript in a folder below the workspaces. Elsewhere every run is a new session, and
the prompt holds the earlier messages. The transcripts are neither encrypted nor redacted; `sessions=False` avoids them.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from runyard.agents.user_code.current_call import workspaces
from runyard.base.private_files import make_folder, remove_tree
from runyard.errors import Invalid, StartupError

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}


class Claude(Struct, frozen=True, kw_only=True):
    """The options of the SDK besides prompt and tools. `environment` may hold a key and is never shown. `session` is
    the session that this run resumes."""

    model: str
    max_turns: int = 5
    max_usd: float = 0.10
    sessions: bool = True
    environment: Mapping[str, str] = {}
    session: str | None = None

    def __post_init__(self) -> None:
        if not self.model:
            raise Invalid('A claude agent has a model, such as "claude-sonnet-5".')
        if self.max_turns <= 0 or not self.max_usd > 0:
            raise Invalid("max_turns and max_usd must be more than 0.")

    def __repr__(self) -> str:
        return f"Claude({self.model!r})"

    def digest(self, instructions: str) -> bytes:
        """Return bytes that change when the agent's behaviour changes."""
        return msgspec.json.encode([self.model, instructions])

    def process_environment(self, home: Path) -> dict[str, str]:
        """Return the environment of the SDK's process, without Runyard's own settings."""
        ours = {name: "" for name in os.environ if name.upper().startswith("RUNYARD_")}
        return {**ours, **QUIET, **self.environment, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home)}


@contextmanager
def home_of(agent: str, place: str | None) -> Iterator[Path]:
    """Give the SDK its folder: that of the agent in this place (the id of a conversation), or a temporary one."""
    if place is None:
        with tempfile.TemporaryDirectory(prefix="runyard-claude-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)
        return
    home = (workspaces() / "claude" / agent / place).resolve()
    make_folder(home)
    yield home


def remove_homes(workspaces: Path, place: str) -> None:
    """Remove the folders that agents have for a place. Do nothing if there are none. Raise OSError on failure."""
    homes = workspaces / "claude"
    for agent in homes.iterdir() if homes.is_dir() else ():
        remove_tree(agent / place)


def is_kept(home: Path, session: str) -> bool:
    """Return whether the session has a transcript to resume."""
    return any(home.glob(f"projects/*/{session}.jsonl"))


def spent_before(home: Path, session: str) -> float:
    """Return the cost of a session when its last run ended. The SDK counts on from there."""
    try:
        return float((home / f"{session}.usd").read_text())
    except (OSError, ValueError):
        return 0.0


def note_spent(home: Path, session: str, usd: float) -> None:
    (home / f"{session}.usd").write_text(repr(usd))


def check_installed() -> None:
    from importlib.util import find_spec

    if find_spec("claude_agent_sdk") is None:
        raise StartupError("A claude agent needs claude-agent-sdk: pip install 'runyard[claude]'.")
