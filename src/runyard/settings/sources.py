"""Where settings come from: the environment and `runyard.toml`, with one sentence for everything that is wrong.

A message names the variable or the key and never shows the value.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_origin

from runyard.errors import StartupError
from runyard.settings.kubernetes import is_service_variable
from runyard.settings.model import Setting

PREFIX = "RUNYARD_"
FILE = Path("runyard.toml")

# Variables that are no settings: they are read before the settings are.
OTHER_VARIABLES = {"RUNYARD_DEBUG": "Set to 1, the command line shows tracebacks instead of one sentence."}


def variable(field: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + field.upper()


def from_environment(fields: Mapping[str, Setting]) -> dict[str, Any]:
    """Return the settings that environment variables set. An empty variable counts as not set."""
    known = {variable(name): name for name in fields}
    found: dict[str, Any] = {}
    for name, value in os.environ.items():
        if not name.upper().startswith(PREFIX) or is_service_variable(name, value):
            continue
        field = known.get(name.upper())
        if field is None and name.upper() not in OTHER_VARIABLES:
            raise StartupError(unknown(name, name.upper(), {*known, *OTHER_VARIABLES}))
        if field is not None and value:
            found[field] = _parsed(name, value) if get_origin(fields[field].kind) is dict else value
    return found


def _parsed(name: str, value: str) -> Any:
    import json

    try:
        return json.loads(value)
    except ValueError:
        raise StartupError(f"{name} must be a JSON object.") from None


def from_file(fields: Mapping[str, Setting]) -> dict[str, Any]:
    """Return the settings that `runyard.toml` sets: flat keys with the names of the fields."""
    values = _read_file()
    for key in values:
        if key not in fields:
            raise StartupError(unknown(f"{key} in {FILE}", key, fields))
    return values


def _read_file() -> dict[str, Any]:
    try:
        text = FILE.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeError) as error:
        raise StartupError(f"{FILE} cannot be read ({type(error).__name__}); check its permissions.") from None
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StartupError(f"{FILE} is not valid TOML: {error}.") from None


def unknown(label: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence about a name that is not a setting, with the closest name that is one."""
    from difflib import get_close_matches

    # without the prefix that all variables share, which would make every name look close
    words = {word.removeprefix(PREFIX): word for word in known}
    close = get_close_matches(name.removeprefix(PREFIX), words, n=1)
    rest = f"; did you mean {words[close[0]]}?" if close else " of Runyard; docs/settings.md lists them all."
    return f"{label} is not a setting{rest}"


def name_of(field: str) -> str:
    """Return where the value of a setting comes from: its variable, its key in the file, or its name as an option."""
    if any(name.upper() == variable(field) and value for name, value in os.environ.items()):
        return variable(field)
    return f"{field} in {FILE}" if field in _read_file() else field
