"""Options of commands. Options that are given win over the environment and `runyard.toml`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.parsing.commands import Argument, Option

if TYPE_CHECKING:
    from runyard.settings import Settings

App = Annotated[
    Path | None,
    Argument(help="The Python file or folder that declares the agents.", show_default="the demo", completes="file"),
]
Host = Annotated[str | None, Option(help="The address to listen on.", show_default="127.0.0.1")]
Port = Annotated[
    int | None, Option(min=0, max=65535, help="The port to listen on; 0 takes any free one.", show_default="8000")
]
Json = Annotated[bool, Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, Option("--quiet", help="Print ids or nothing, and no notes.")]
JsonLogs = Annotated[bool, Option("--json", help="Write the log as JSON.")]
QuietLogs = Annotated[bool, Option("--quiet", help="Log warnings and errors only.")]

SHORT = "or 8 or more characters of its beginning or end."
RunId = Annotated[str, Argument(help=f"The id of a run, {SHORT}", completes="run")]
ThreadId = Annotated[str, Argument(help=f"The id of a thread, {SHORT}", completes="thread")]
ChannelId = Annotated[str, Argument(help=f"The id or name of a channel, {SHORT}", completes="channel")]
ApprovalId = Annotated[str, Argument(help=f"The id of an approval, {SHORT}", completes="approval")]
WaitId = Annotated[str, Argument(help=f"The id of a wait, {SHORT}", completes="wait")]
KeyId = Annotated[str, Argument(help=f"The id of a key, {SHORT}", completes="key")]
AgentName = Annotated[str, Argument(help="The name of an agent.", completes="agent")]
Status = Annotated[
    str | None,
    Option(
        help="Only runs with this status: queued, running, waiting, done, error or canceled.",
        completes="queued running waiting done error canceled",
    ),
]
OfAgent = Annotated[str | None, Option("--agent", help="Only runs of this agent.", completes="agent")]


def settings_with(**options: Any) -> "Settings":
    from runyard.settings import Settings

    return Settings(**{name: value for name, value in options.items() if value is not None})


def settings_for_production(**options: Any) -> "Settings":
    """Return the settings. StartupError if checkpoints would be files without encryption."""
    settings = settings_with(**options)
    if settings.checkpoints == "files" and settings.encryption_keys is None:
        from runyard.errors import StartupError

        raise StartupError(
            "Checkpoints as files need RUNYARD_ENCRYPTION_KEYS (`runyard keys make-encryption` makes one);"
            " only `runyard dev` writes them without encryption."
        )
    return settings


def log_settings(json: bool, quiet: bool) -> dict[str, Any]:
    """Return the settings of the log for `--json` and `--quiet`."""
    return {"log_format": "json" if json else None, "log_level": "warning" if quiet else None}


def seconds_of(option: str, text: str) -> int:
    """Return the seconds of 30m, 12h or 90d. Raises Invalid."""
    from runyard.cli.terminal.text import seconds_in
    from runyard.errors import Invalid

    seconds = seconds_in(text)
    if seconds is None:
        raise Invalid(f"{option} must be a time like 30m, 12h or 90d.")
    return seconds


def json_of(what: str, text: str) -> Any:
    """Return a JSON value of the command line. Raises Invalid."""
    import msgspec

    from runyard.errors import Invalid

    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        raise Invalid(f"{what} must be JSON; put text into quotes: '\"text\"'.") from None
