"""The structure of a schema: its size and depth, its subschemas, and where its references lead.

A subschema is applied in place (to the same value: `allOf`, `$ref`, `if`) or to a part of the value (`properties`,
`items`). A schema whose references lead back to it in place would never end and is refused. One that leads back to it
through a part of the value is an ordinary recursive type.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote

import msgspec

from runyard.errors import Invalid

MOST_BYTES = 64 * 1024
MOST_LEVELS = 32

Schema: TypeAlias = "Mapping[str, Any] | bool"

DRAFTS = ("draft-07/schema", "draft/2019-09/schema", "draft/2020-12/schema")
IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
IN_PLACE = ("not", "if", "then", "else")
IN_PLACE_BY_NAME = ("dependentSchemas", "dependencies")
PARTS = (
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "items",
    "contentSchema",
)
PART_LISTS = ("prefixItems", "items")
PARTS_BY_NAME = ("properties", "patternProperties")
UNSUPPORTED = ("$dynamicRef", "$recursiveRef")


def encoded(schema: Mapping[str, Any]) -> bytes:
    """Return the schema as JSON. Raise Invalid if it is not JSON, too large or nested too deeply."""
    if not _is_shallow(schema):
        raise Invalid(f"The schema is nested too deeply; at most {MOST_LEVELS} levels are allowed.")
    try:
        data = msgspec.json.encode(schema)
    except (TypeError, ValueError):
        raise Invalid("The schema is not JSON.") from None
    if len(data) > MOST_BYTES:
        raise Invalid(f"The schema is too large; at most {MOST_BYTES // 1024} KB are allowed.")
    return data


def _is_shallow(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(MOST_LEVELS + 1):
        if not level:
            return True
        if len(level) > MOST_BYTES:
            return True  # it has more bytes than allowed, and is refused for that
        level = [part for each in level for part in _contents(each)]
    return False


def _contents(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value


class Structure:
    """A schema with its references resolved. Raise Invalid if they leave the schema or never end."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.patterns: set[str] = set()
        self.names: set[str] = set()  # of declared properties
        self._in_place: dict[int, list[Schema]] = {}
        dialect = root.get("$schema")
        if dialect is not None and not (isinstance(dialect, str) and dialect.rstrip("#").endswith(DRAFTS)):
            raise Invalid("The dialect of the schema is not supported; use draft 2020-12, 2019-09 or 7.")
        self._collect()
        self._refuse_endless()

    def in_place(self, schema: Mapping[str, Any]) -> list[Schema]:
        """Return the subschemas that are applied to the same value."""
        found = self._in_place.get(id(schema))
        if found is None:
            found = self._in_place[id(schema)] = list(self._find_in_place(schema))
        return found

    def _find_in_place(self, schema: Mapping[str, Any]) -> Iterator[Schema]:
        if "$ref" in schema:
            yield self._resolved(schema["$ref"])
        for keyword in IN_PLACE_LISTS:
            yield from _schemas(_list(schema.get(keyword)))
        yield from _schemas([schema.get(keyword) for keyword in IN_PLACE])
        for keyword in IN_PLACE_BY_NAME:
            yield from _schemas(list(_object(schema.get(keyword)).values()))

    def _collect(self) -> None:
        """Visit every subschema that a value can reach."""
        seen: set[int] = set()
        waiting: list[Schema] = [self.root]
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, bool) or id(schema) in seen:
                continue
            seen.add(id(schema))
            self._check_keywords(schema)
            waiting += self.in_place(schema)
            for keyword in PARTS_BY_NAME:
                waiting += _schemas(list(_object(schema.get(keyword)).values()))
            waiting += _schemas([schema.get(keyword) for keyword in PARTS])
            for keyword in PART_LISTS:
                waiting += _schemas(_list(schema.get(keyword)))

    def _check_keywords(self, schema: Mapping[str, Any]) -> None:
        if any(keyword in schema for keyword in UNSUPPORTED):
            raise Invalid("Dynamic references are not supported; use `$ref`.")
        if "$id" in schema and schema is not self.root:
            raise Invalid("Only the schema itself may have an `$id`; remove it from its parts.")
        if isinstance(pattern := schema.get("pattern"), str):
            self.patterns.add(pattern)
        self.patterns.update(_object(schema.get("patternProperties")))
        self.names.update(_object(schema.get("properties")))

    def _resolved(self, reference: object) -> Schema:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise Invalid("A reference leads outside of the schema; references begin with `#/`.")
        found: Any = self.root
        for part in reference.split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                found = None
        if not isinstance(found, dict | bool):
            raise Invalid("A reference leads to nothing; every `$ref` names a part of the schema.")
        return found

    def _refuse_endless(self) -> None:
        """Refuse a chain of references that comes back to where it began, or is longer than the schema may be deep."""
        depths: dict[int, int] = {}
        for schema in [self.root, *self._known()]:
            self._depth(schema, depths, frozenset())

    def _known(self) -> list[Schema]:
        return [schema for parts in self._in_place.values() for schema in parts]

    def _depth(self, schema: Schema, depths: dict[int, int], above: frozenset[int]) -> int:
        if isinstance(schema, bool):
            return 0
        key = id(schema)
        if key in above:
            raise Invalid("A reference leads back to itself; a recursive schema must lead through a part of the value.")
        if len(above) > MOST_LEVELS:
            raise Invalid(f"The references form a chain that is too long; at most {MOST_LEVELS} are allowed.")
        if key not in depths:
            below = [self._depth(part, depths, above | {key}) for part in self.in_place(schema)]
            depths[key] = 1 + max(below, default=0)
        if len(above) + depths[key] > MOST_LEVELS:
            raise Invalid(f"The references form a chain that is too long; at most {MOST_LEVELS} are allowed.")
        return depths[key]


def _schemas(found: list[Any]) -> list[Schema]:
    return [part for part in found if isinstance(part, dict | bool)]


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _object(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
