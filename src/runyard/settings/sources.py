"""Where settings come from: the environment and `runyard.toml`, with one sentence for everything that is wrong.

Not pydantic-settings: importing it takes longer than a command takes to run.
"""

import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from runyard.errors import StartupError
from runyard.settings.kubernetes import is_service_variable

PREFIX = "RUNYARD_"
FILE = Path("runyard.toml")

# Variables that are no settings: they are read before the settings are.
OTHER_VARIABLES = {"RUNYARD_DEBUG": "Set to 1, the command line shows tracebacks instead of one sentence."}


def variable(field: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + field.upper()


def from_environment(fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Return the settings that environment variables set. An empty variable counts as not set."""
    known = {variable(name): name for name in fields}
    found: dict[str, Any] = {}
    for name, value in os.environ.items():
        if not name.upper().startswith(PREFIX) or is_service_variable(name, value):
            continue
        field = known.get(name.upper())
        if field is None and name.upper() not in OTHER_VARIABLES:
            raise StartupError(f"{name} is not a setting{_did_you_mean(name.upper(), {*known, *OTHER_VARIABLES})}")
        if field is not None and value:
            found[field] = _parsed(name, value) if get_origin(fields[field].annotation) is dict else value
    return found


def _parsed(name: str, value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        raise StartupError(f"{name} must be a JSON object.") from None


def from_file(fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Return the settings that `runyard.toml` sets: flat keys with the names of the fields."""
    values = _read_file()
    for key in values:
        if key not in fields:
            raise StartupError(f"{key} in {FILE} is not a setting{_did_you_mean(key, fields)}")
    return values


def _read_file() -> dict[str, Any]:
    try:
        return tomllib.loads(FILE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise StartupError(f"{FILE} is not valid TOML: {error}.") from None
    except (OSError, UnicodeError) as error:
        raise StartupError(f"{FILE} cannot be read ({type(error).__name__}).") from None


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    # without the prefix that all names share, which would make every name look close
    words = {word.removeprefix(PREFIX): word for word in known}
    close = get_close_matches(name.removeprefix(PREFIX), list(words), n=1)
    return f"; did you mean {words[close[0]]}?" if close else " of Runyard; docs/settings.md lists them all."


def sentence(problem: ErrorDetails, fields: Mapping[str, FieldInfo]) -> str:
    """Describe a wrong value in one sentence that names its variable or key, and never the value."""
    where = str(problem["loc"][0]) if problem["loc"] else "A setting"
    in_environment = any(name.upper() == variable(where) and value for name, value in os.environ.items())
    name = variable(where) if in_environment else f"{where} in {FILE}" if where in _read_file() else where
    if problem["type"] == "extra_forbidden":
        return f"{name} is not a setting{_did_you_mean(where, fields)}"
    return f"{name} {_what_is_wrong(problem)}."


def _what_is_wrong(problem: ErrorDetails) -> str:
    if problem["type"].startswith("int_"):
        return "must be a whole number"
    if problem["type"].startswith("float_"):
        return "must be a number"
    text = problem["msg"].removeprefix("Value error, ")
    return text.replace("Input should be a valid", "must be a").replace("Input should be", "must be").rstrip(".")
