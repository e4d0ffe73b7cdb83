"""Checks values against schemas, in bounded time.

A validator in Rust decides. Its time for a value is bounded by work that is counted beforehand: `WORK` units of about
0.2 microseconds. The count takes every branch of the schema, so it is never too low. It remembers what it counted for
a subschema and a part of the value, so counting is cheap even where checking would not be.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from jsonschema_rs import (
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
    RegexOptions,
    ValidationError,
    Validator,
)

from runyard.base.json_schema.sentences import sentence
from runyard.base.json_schema.structure import Schema, Structure, encoded
from runyard.errors import Invalid

WORK = 1_000_000
EVALUATION = 5  # units for one subschema and one part of the value
MOST_UNITS_TO_EXPLAIN = 50_000  # the validator's errors cost far more than its verdict
MOST_NESTED = 200  # subschemas and parts of the value, inside each other
PATTERN_KB = (1, 4, 16, 64, 256, 512)  # sizes of compiled patterns; a character costs one unit per KB at most
MOST_PATTERN_KB = 4 * 1024  # of all patterns of a schema
KEPT = 64  # compiled schemas


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raise Invalid if this is not a JSON Schema, or if it is too large, too deep or too costly."""
    _compiled(encoded(schema))


def check_value(schema: Mapping[str, Any], value: Any) -> None:
    """Raise Invalid with the place and the rule if the value does not fit the schema, or the schema is refused."""
    _compiled(encoded(schema)).check(value)


class _Compiled:
    def __init__(self, data: bytes) -> None:
        root = msgspec.json.decode(data)
        if not isinstance(root, dict):
            raise Invalid('The schema is not a JSON object. Pass one, such as {"type": "string"}.')
        self._structure = Structure(root)
        self._patterns = _pattern_sizes(self._structure.patterns)
        dialect = str(root.get("$schema", ""))
        kind: type[Validator] = Draft7Validator if "draft-07" in dialect else Draft202012Validator
        kind = Draft201909Validator if "2019-09" in dialect else kind
        self._validator = _made(kind, root, PATTERN_KB[-1])

    def check(self, value: Any) -> None:
        units = _Count(self._structure, self._patterns).units(value)
        try:
            if self._validator.is_valid(value):
                return
            if units <= MOST_UNITS_TO_EXPLAIN:
                self._validator.validate(value)
        except ValidationError as error:
            raise Invalid(sentence(error, self._structure.names)) from None
        except ValueError:
            raise Invalid("The value is not JSON.") from None
        raise Invalid("The value does not fit the schema.")


@lru_cache(KEPT)
def _compiled(data: bytes) -> _Compiled:
    return _Compiled(data)


def _made(kind: type[Validator], schema: dict[str, Any], pattern_kb: int) -> Validator:
    size = pattern_kb * 1024
    try:
        return kind(
            schema,
            pattern_options=RegexOptions(size_limit=size, dfa_size_limit=size),
            validate_formats=False,
            offline=True,
            mask="...",
        )
    except ValidationError as error:
        raise Invalid(f"The schema is not valid at {_place(error)}.") from None
    except ValueError:
        raise Invalid("The schema is not valid.") from None


def _place(error: ValidationError) -> str:
    return "`" + "/".join(["#", *(str(part)[:64] for part in error.instance_path)]) + "`"


def _pattern_sizes(patterns: set[str]) -> dict[str, int]:
    """Return the size in KB of each pattern. Raise Invalid if one is not valid, or all of them are too large."""
    sizes: dict[str, int] = {}
    for pattern in sorted(patterns):
        sizes[pattern] = _pattern_size(pattern)
        if sum(sizes.values()) > MOST_PATTERN_KB:
            raise Invalid("The patterns of the schema are too large; use fewer or shorter repetitions.")
    return sizes


def _pattern_size(pattern: str) -> int:
    for size in PATTERN_KB:
        try:
            _made(Draft202012Validator, {"pattern": pattern}, size)
        except Invalid:
            continue
        return size
    raise Invalid(
        "A pattern of the schema is not valid or too large. Back-references and look-around are not supported; "
        "for lengths use `maxLength`."
    )


class _Count:
    """Counts the work of checking one value."""

    def __init__(self, structure: Structure, patterns: dict[str, int]) -> None:
        self._structure = structure
        self._patterns = patterns
        self._counted: dict[tuple[int, int], int] = {}

    def units(self, value: Any) -> int:
        """Return the work. Raise Invalid if it is too much, or if the value is nested too deeply."""
        return self._units(self._structure.root, value, 0)

    def _units(self, schema: Schema, value: Any, nested: int) -> int:
        if isinstance(schema, bool):
            return EVALUATION
        key = (id(schema), id(value))
        if key in self._counted:
            return self._counted[key]
        if nested > MOST_NESTED:
            raise Invalid("The value is nested too deeply.")
        units = EVALUATION + sum(len(part) for part in schema.values() if isinstance(part, list | dict))
        if isinstance(value, str):
            units += self._pattern_units(schema, value)
        for part in self._structure.in_place(schema):
            units = _within(units + self._units(part, value, nested + 1))
        match value:
            case dict():
                for name, item in value.items():
                    for part in _for_property(schema, name):
                        units += self._units(part, item, nested + 1)
                    units = _within(units + self._name_units(schema, name, nested + 1))
            case list() | tuple():
                for place, item in enumerate(value):
                    for part in _for_item(schema, place):
                        units += self._units(part, item, nested + 1)
                    units = _within(units + 1)
            case _:
                pass
        self._counted[key] = _within(units)
        return units

    def _pattern_units(self, schema: Mapping[str, Any], text: str) -> int:
        pattern = schema.get("pattern")
        return len(text) * self._patterns[pattern] if isinstance(pattern, str) else 0

    def _name_units(self, schema: Mapping[str, Any], name: str, nested: int) -> int:
        if not isinstance(name, str):
            raise Invalid("The value is not JSON.")
        units = 1 + sum(len(name) * self._patterns[pattern] for pattern in schema.get("patternProperties", ()))
        if isinstance(rule := schema.get("propertyNames"), dict):
            units += self._units(rule, name, nested)
        return units


def _for_property(schema: Mapping[str, Any], name: str) -> list[Schema]:
    declared = schema.get("properties", {})
    found = [declared[name]] if name in declared else []
    found += schema.get("patternProperties", {}).values()
    if name not in declared and (rest := schema.get("additionalProperties")) is not None:
        found.append(rest)
    if (rest := schema.get("unevaluatedProperties")) is not None:
        found.append(rest)
    return found


def _for_item(schema: Mapping[str, Any], place: int) -> list[Schema]:
    items, first = schema.get("items"), schema.get("prefixItems", [])
    if isinstance(items, list):  # draft 7
        items, first = schema.get("additionalItems"), items
    found = [first[place]] if place < len(first) else []
    if place >= len(first) and items is not None:
        found.append(items)
    return found + [schema[keyword] for keyword in ("contains", "unevaluatedItems") if keyword in schema]


def _within(units: int) -> int:
    if units > WORK:
        raise Invalid("The value takes too long to check; send a smaller value, or simplify the schema.")
    return units
