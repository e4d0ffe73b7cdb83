"""Options of commands. Options that are given win over the environment and `runyard.toml`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.parsing.commands import Argument, Option

if TYPE_CHECKING:
    from runyard.settings import Settings

App = Annotated[
    Path | None,
    Argument(help="The Python file or folder that declares the agents.", show_default="the demo"),
]
Host = Annotated[str | None, Option(help="The address to listen on.", show_default="127.0.0.1")]
Port = Annotated[
    int | None, Option(min=0, max=65535, help="The port to listen on; 0 takes any free one.", show_default="8000")
]
Json = Annotated[bool, Option("--json", help="Print JSON instead of a table.")]


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
