"""Every setting, in one frozen model made of one model per subject.

A value comes from a command's own option, else from the environment (`RUNYARD_*`), else from `runyard.toml` in the
working folder, else it is the default. `Settings()` returns checked settings, or raises StartupError with one sentence
that names the variable or key. An unknown name is an error, so that a misspelt setting cannot go unnoticed. No message
and no repr shows the value of `api_key`, `encryption_keys`, `database_url` or `bus_url`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from runyard.errors import StartupError
from runyard.settings.addresses import address
from runyard.settings.agents import AgentSettings
from runyard.settings.checkpoints import CheckpointSettings
from runyard.settings.command_line import CommandLineSettings
from runyard.settings.database import DatabaseSettings
from runyard.settings.files import FileSettings
from runyard.settings.http import HttpSettings
from runyard.settings.privacy import PrivacySettings
from runyard.settings.sources import FILE, OTHER_VARIABLES, from_environment, from_file, name_of, unknown, variable
from runyard.settings.telemetry import TelemetrySettings
from runyard.settings.workers import WorkerSettings

__all__ = ["FILE", "OTHER_VARIABLES", "Settings", "address", "variable"]


class Settings(  # the table in docs/settings.md has the last of these first
    CommandLineSettings,
    TelemetrySettings,
    PrivacySettings,
    CheckpointSettings,
    FileSettings,
    WorkerSettings,
    AgentSettings,
    DatabaseSettings,
    HttpSettings,
):
    """The settings of a process (`docs/settings.md`).

    A value comes from an argument, else from the environment (`RUNYARD_...`), else from `runyard.toml`.

    Raises:
        StartupError: If a value is wrong, or a variable `RUNYARD_...` is unknown.

    Example:
        >>> runyard.Settings(port=9000, database_url="sqlite:///notes.db").port
        9000
    """

    if not TYPE_CHECKING:  # a type checker takes the arguments from the fields

        def __init__(self, **options: Any) -> None:
            for name in options:
                if name not in self.fields:
                    raise StartupError(unknown(name, name, self.fields))
            self._set({**self._from_outside(), **options})

    @classmethod
    def _from_outside(cls) -> dict[str, Any]:
        """Return the values of `runyard.toml` and, above them, of the environment."""
        return {**from_file(cls.fields), **from_environment(cls.fields)}

    def _set(self, given: Mapping[str, Any]) -> None:
        values = vars(self)  # attributes cannot be assigned
        values["_given"] = frozenset(given)
        for name, field in self.fields.items():
            try:
                values[name] = field.parsed(given[name]) if name in given else field.default_for(values)
            except ValueError as error:
                problem = f"{name_of(name)} {error}."
            else:
                continue
            raise StartupError(problem)

    def with_defaults(self, **defaults: Any) -> Self:
        """Return these settings with other defaults: values for settings that have been given nowhere."""
        given = vars(self)["_given"]
        changed = object.__new__(type(self))
        changed._set({name: vars(self)[name] for name in given} | {n: v for n, v in defaults.items() if n not in given})
        vars(changed)["_given"] = given
        return changed

    @property
    def checkpoint_path(self) -> Path:
        """The folder of checkpoints that are files."""
        if self.checkpoint_folder is not None:
            return self.checkpoint_folder
        return self.sqlite_path.parent if self.sqlite_path is not None else Path(".runyard")
