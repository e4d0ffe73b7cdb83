"""Settings of the checkpoints of chats."""

from pathlib import Path
from typing import Literal

from runyard.settings.model import SettingsGroup, setting


class CheckpointSettings(SettingsGroup):
    checkpoints: Literal["database", "files"] = setting(
        default="database", description="Where the checkpoints of chats are stored: in the `database`, or as `files`."
    )
    checkpoint_folder: Path | None = setting(
        default=None, description="The folder of these files; by default the folder of the database."
    )
    checkpoint_fallback: Path | None = setting(
        default=None,
        description="A folder for checkpoints that cannot be saved within 5 seconds, on a local disk and outside the"
        " folder of checkpoints; by default one below `/var/tmp`.",
    )
