"""Settings of the checkpoints of chats."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from runyard.settings.values import Word


class CheckpointSettings(BaseModel):
    checkpoints: Annotated[Literal["database", "files"], Word] = Field(
        "database", description="Where the checkpoints of chats are stored: in the `database`, or as `files`."
    )
    checkpoint_folder: Path | None = Field(
        None, description="The folder of these files; by default the folder of the database."
    )
    checkpoint_fallback: Path | None = Field(
        None,
        description="A folder for checkpoints that cannot be saved within 5 seconds, on a local disk and outside the"
        " folder of checkpoints; by default one below `/var/tmp`.",
    )
