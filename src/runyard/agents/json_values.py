"""Values for the log: JSON that every store can hold.

`plain` returns a value as a reader of the log gets it back. `digest` is a short hash of arguments, the same in every
process. An argument that is not JSON is hashed by its type only, so replay does not notice if it changes.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from runyard.domain.events import clean

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.decode


def plain(value: object) -> Any:
    """Return `value` after a round trip through JSON. Raise TypeError or ValueError if it is not JSON."""
    try:
        builtins = msgspec.to_builtins(value, str_keys=True, order="deterministic")
        data = msgspec.json.encode(builtins)
    except UnicodeEncodeError:
        return _cleaned(builtins)
    except RecursionError:
        raise ValueError("the value is nested too deeply") from None
    decoded = _decode(data)
    return _cleaned(decoded) if rb"\u0000" in data else decoded


def digest(args: Sequence[object], kwargs: Mapping[str, object]) -> str:
    """Return twelve hex digits that change when the arguments change."""
    parts = [_part(arg) for arg in args]
    parts += [_part(key) + b"=" + _part(kwargs[key]) for key in sorted(kwargs)]
    return sha256(b"\0".join(parts)).hexdigest()[:12]


def same(left: object, right: object) -> bool:
    """Return whether two JSON values are equal. 1, 1.0 and True differ."""
    return _encode(left) == _encode(right)


def _part(value: object) -> bytes:
    try:
        return _encode(msgspec.to_builtins(value, str_keys=True))
    except (TypeError, ValueError, RecursionError):
        kind = type(value)
        return f"{kind.__module__}.{kind.__qualname__}".encode()


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case list() | tuple():
            return [_cleaned(item) for item in value]
        case dict():
            return {_cleaned(key): _cleaned(item) for key, item in value.items()}
        case _:
            return value
