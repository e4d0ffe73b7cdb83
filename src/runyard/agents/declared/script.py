"""The script of a scripted agent. Each entry is checked when the agent is declared.

{"token": "Hello"}                                          one token
{"tokens": ["a", "b"], "every_ms": 50}                      several tokens, each after a pause
{"thinking": "..."}                                         a piece of reasoning
{"tool": "name", "input": {}, "output": {}, "ms": 200}      a tool call that takes `ms`
{"pause_ms": 100}                                           a pause
{"trace": "fn"}                                             a mark for debugging
{"fail": "code", "message": "..."}                          the end, as an error
{"output": {"text": "...", "sources": [], "outputs": {}}}   the end (without text: all tokens joined)
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from runyard.agents.json_values import plain
from runyard.errors import Invalid

_Ms = Annotated[int, Meta(ge=0)]
_Name = Annotated[str, Meta(min_length=1)]


class _Entry(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Token(_Entry, frozen=True):
    token: str


class Tokens(_Entry, frozen=True):
    tokens: list[str]
    every_ms: _Ms = 0


class Thinking(_Entry, frozen=True):
    thinking: str


class Call(_Entry, frozen=True):
    tool: _Name
    input: dict[str, Any] = {}
    output: Any = None
    ms: _Ms = 0


class Pause(_Entry, frozen=True):
    pause_ms: _Ms


class Mark(_Entry, frozen=True):
    trace: _Name


class Fail(_Entry, frozen=True):
    fail: _Name
    message: str = "The script failed here."


class Answer(_Entry, frozen=True):
    text: str | None = None
    sources: list[str] = []
    outputs: dict[str, Any] = {}


class End(_Entry, frozen=True):
    output: Answer


Entry: TypeAlias = Token | Tokens | Thinking | Call | Pause | Mark | Fail | End
Script: TypeAlias = tuple[Entry, ...]

# `tool` before `output`: a tool call has both words.
_KINDS: dict[str, type[Entry]] = {
    "token": Token,
    "tokens": Tokens,
    "thinking": Thinking,
    "tool": Call,
    "pause_ms": Pause,
    "trace": Mark,
    "fail": Fail,
    "output": End,
}


def parse(entries: object) -> Script:
    """Return the script that `entries` describe; Invalid names the wrong entry, counted from 0."""
    if isinstance(entries, str | bytes) or not isinstance(entries, Sequence):
        raise Invalid('The script is not a list. Pass a list of entries such as {"token": "Hello"}.')
    script = tuple(_entry(index, entry) for index, entry in enumerate(entries))
    for index, entry in enumerate(script[:-1]):
        if isinstance(entry, Fail | End):
            raise Invalid(f"Script entry {index} ends the script, but more entries follow; move it to the end.")
    return script


def _entry(index: int, entry: object) -> Entry:
    word = next((word for word in _KINDS if isinstance(entry, Mapping) and word in entry), None)
    if word is None:
        raise Invalid(f"Script entry {index} needs one of the keys {', '.join(_KINDS)}.")
    try:
        return msgspec.convert(plain(entry), _KINDS[word])
    except msgspec.ValidationError as error:
        raise Invalid(f"Script entry {index} ({word}) is wrong: {error}.") from None
    except (TypeError, ValueError):
        raise Invalid(f"Script entry {index} ({word}) is not JSON.") from None
