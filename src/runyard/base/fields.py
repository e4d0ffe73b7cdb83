"""Refuses unknown fields and query parameters of a request, with a hint.

A misspelled field must not be ignored: an approval with a misspelled edit would run the original call. The hint names
a field of the route and never repeats what the client sent.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, ClassVar

from pydantic import AliasChoices, BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

UNKNOWN = "unknown_field"
LONGEST_NAME = 64  # characters; a longer name resembles no field
MOST_HINTS = 5
NO_WORDS: Mapping[str, str] = {}


class RequestBody(BaseModel):
    """A body that accepts only declared fields. `other_words` maps names from other APIs to the field to suggest."""

    model_config = ConfigDict(extra="forbid")
    other_words: ClassVar[Mapping[str, str]] = NO_WORDS

    @model_validator(mode="before")
    @classmethod
    def refuse_unknown_fields(cls, given: Any) -> Any:
        if isinstance(given, dict):
            names = field_names(cls)
            unknown = [name for name in given if name not in names]
            if unknown:
                raise PydanticCustomError(UNKNOWN, "{hint}", {"hint": hint(unknown, names, cls.other_words)})
        return given


@cache
def field_names(model: type[BaseModel]) -> tuple[str, ...]:
    """Return every name under which a field is accepted."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias or name]
        found += [str(choice) for choice in choices]
    return tuple(found)


def hint(unknown: Iterable[str], known: Iterable[str], other_words: Mapping[str, str] = NO_WORDS) -> str:
    """Return a sentence with the known names that the unknown ones resemble, or with all known names."""
    names = sorted(known)
    meant: dict[str, None] = {}
    for name in list(unknown)[:MOST_HINTS]:
        if (found := _meant(str(name), names, other_words)) is not None:
            meant[found] = None
    if meant:
        return f"Unknown field; did you mean {_listed(meant)}?"
    return f"Unknown field; the known ones are {_listed(names)}." if names else "Unknown field; there are none here."


def _meant(name: str, known: list[str], other_words: Mapping[str, str]) -> str | None:
    if name in other_words:
        return other_words[name]
    if len(name) > LONGEST_NAME:
        return None
    plain = {_plain(each): each for each in known}
    close = get_close_matches(_plain(name), plain, n=1)
    return plain[close[0]] if close else None


def _plain(name: str) -> str:
    """One spelling for `thread_id`, `threadId` and `Thread-ID`."""
    return name.lower().replace("_", "").replace("-", "")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
