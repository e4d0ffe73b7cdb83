"""Values of a graph as JSON, and back.

LangGraph's serializer turns a value into MessagePack: plain data, and objects that are written as a class and its
arguments. This module writes the same as JSON, so that the log can be read, and so that redaction finds every text.
Names of classes and of their fields are not content: they go into a table (`names`) that is not redacted.

A list that begins like the last value of its channel is stored as the number of equal items and the rest. So a
conversation that grows by one message in every step is not stored again in every step.
"""

import math
from base64 import b64decode, b64encode
from collections.abc import Hashable
from typing import Any, NamedTuple

import ormsgpack
from langgraph.checkpoint.serde.base import SerializerProtocol

from runyard.agents.json_values import same

_OPTIONS = ormsgpack.OPT_NON_STR_KEYS
# Objects with one of these keys are not data of the graph. An object of the graph with such a key is stored as `$map`.
_SIGN = "$"


class _Extension(NamedTuple):
    """An object that the serializer wrote as an extension of MessagePack: its code and the unpacked content."""

    code: int
    content: Any


class GraphValues:
    """Translate values with one serializer. `names` grows with the values; decoding needs the names of all values so
    far."""

    def __init__(self, serializer: SerializerProtocol) -> None:
        self._serializer = serializer
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._last: dict[Hashable, list[Any]] = {}

    # --- to JSON

    def encode(self, value: Any) -> Any:
        kind, data = self._serializer.dumps_typed(value)
        if kind == "null":
            return None
        if kind != "msgpack":
            return {"$raw": [kind, b64encode(data).decode()]}
        return self._tree(_unpack(data))

    def encode_change(self, value: Any, place: Hashable) -> Any:
        """Encode a value as the change of the value that this place had before."""
        tree = self.encode(value)
        before = self._last.get(place)
        self._remember(place, tree)
        if before is None or not isinstance(tree, list):
            return tree
        equal = 0
        while equal < min(len(before), len(tree)) and same(before[equal], tree[equal]):
            equal += 1
        return {"$after": [equal, tree[equal:]]} if equal else tree

    def _tree(self, value: Any) -> Any:
        match value:
            case _Extension(code, content):  # before `list`: it is a tuple
                return {"$object": [code, self._object(content)]}
            case float() if not math.isfinite(value):
                return {"$float": repr(value)}
            case bytes():
                return {"$bytes": b64encode(value).decode()}
            case list() | tuple():
                return [self._tree(item) for item in value]
            case dict() if all(isinstance(key, str) and not key.startswith(_SIGN) for key in value):
                return {key: self._tree(item) for key, item in value.items()}
            case dict():
                return {"$map": [[self._tree(key), self._tree(item)] for key, item in value.items()]}
            case _:
                return value

    def _object(self, content: Any) -> Any:
        """Write a class and its arguments. Texts beside the arguments are names of modules, classes and methods."""
        if not isinstance(content, list) or len(content) < 3:
            return self._tree(content)
        first, second, arguments, *rest = content
        return [self._name(first), self._name(second), self._arguments(arguments), *(self._name(each) for each in rest)]

    def _arguments(self, arguments: Any) -> Any:
        if not isinstance(arguments, dict) or not all(isinstance(key, str) for key in arguments):
            return self._tree(arguments)
        return {"$fields": [[self._number(key), self._tree(item)] for key, item in arguments.items()]}

    def _name(self, name: Any) -> Any:
        return {"$name": self._number(name)} if isinstance(name, str) else self._tree(name)

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            self.add_names([name])
        return self._numbers[name]

    # --- from JSON

    def add_names(self, names: list[str]) -> None:
        for name in names:
            self._numbers[name] = len(self.names)
            self.names.append(name)

    def decode(self, tree: Any) -> Any:
        if isinstance(tree, dict) and "$raw" in tree:
            kind, data = tree["$raw"]
            return self._serializer.loads_typed((kind, b64decode(data)))
        return self._serializer.loads_typed(("msgpack", _pack(self._value(tree))))

    def decode_change(self, tree: Any, place: Hashable) -> Any:
        if isinstance(tree, dict) and "$after" in tree:
            equal, rest = tree["$after"]
            tree = [*self._last[place][:equal], *rest]
        self._remember(place, tree)
        return self.decode(tree)

    def _value(self, tree: Any) -> Any:
        match tree:
            case list():
                return [self._value(item) for item in tree]
            case {"$object": [int(code), content]}:
                return _Extension(code, self._value(content))
            case {"$name": int(number)}:
                return self.names[number]
            case {"$fields": list(fields)}:
                return {self.names[number]: self._value(item) for number, item in fields}
            case {"$map": list(pairs)}:
                return {_key(self._value(key)): self._value(item) for key, item in pairs}
            case {"$bytes": str(text)}:
                return b64decode(text)
            case {"$float": str(text)}:
                return float(text)
            case dict():
                return {key: self._value(item) for key, item in tree.items()}
            case _:
                return tree

    def _remember(self, place: Hashable, tree: Any) -> None:
        if isinstance(tree, list):
            self._last[place] = tree
        else:
            self._last.pop(place, None)


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _unpack(data: bytes) -> Any:
    return ormsgpack.unpackb(data, ext_hook=lambda code, inner: _Extension(code, _unpack(inner)), option=_OPTIONS)


def _pack(value: Any) -> bytes:
    return ormsgpack.packb(_packable(value), option=_OPTIONS)


def _packable(value: Any) -> Any:
    match value:
        case _Extension(code, content):
            return ormsgpack.Ext(code, _pack(content))
        case list() | tuple():
            return [_packable(item) for item in value]
        case dict():
            return {key: _packable(item) for key, item in value.items()}
        case _:
            return value
