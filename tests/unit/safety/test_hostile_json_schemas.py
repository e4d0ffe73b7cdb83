"""A hostile schema or value is refused before it costs time."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from runyard.base.json_schema import check_schema, check_value, schema_of
from runyard.errors import Invalid

LONGEST = 2.0  # seconds of processor time: several times what the slowest case takes


@contextmanager
def quickly() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < LONGEST


def doubled(keyword: str, levels: int) -> dict[str, Any]:
    """Return a small schema that applies its last part 2 ** levels times."""
    parts: dict[str, Any] = {
        f"n{n}": {keyword: [{"$ref": f"#/$defs/n{n + 1}"}, {"$ref": f"#/$defs/n{n + 1}"}]} for n in range(levels)
    }
    return {"$ref": "#/$defs/n0", "$defs": parts | {f"n{levels}": {"type": "string"}}}


def nested(levels: int, last: Any = 1) -> Any:
    for _ in range(levels):
        last = {"items": last}
    return last


def chain(length: int) -> dict[str, Any]:
    parts = {f"n{n}": {"$ref": f"#/$defs/n{n + 1}"} for n in range(length)}
    return {"$ref": "#/$defs/n0", "$defs": parts | {f"n{length}": {}}}


LOOP: dict[str, Any] = {}
LOOP["items"] = LOOP


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"description": "x" * 70_000}, "too large"),
        ({"enum": list(range(100_000))}, "too large"),
        (nested(40, {}), "nested too deeply"),
        (nested(100_000, {}), "nested too deeply"),
        (LOOP, "nested too deeply"),
        ({"enum": [object()]}, "not JSON"),
        ({"$ref": "http://127.0.0.1:9/schema"}, "outside of the schema"),
        ({"$ref": "file:///etc/passwd"}, "outside of the schema"),
        ({"$ref": "other.json#/a"}, "outside of the schema"),
        ({"$ref": 5}, "outside of the schema"),
        ({"items": {"$id": "http://127.0.0.1:9/", "$ref": "#/a"}, "a": {}}, "`$id`"),
        ({"$schema": "http://127.0.0.1:9/dialect"}, "dialect"),
        ({"$schema": 5}, "dialect"),
        ({"$ref": "#/$defs/none"}, "leads to nothing"),
        ({"$ref": "#"}, "leads back to itself"),
        ({"allOf": [{"anyOf": [{"$ref": "#"}]}]}, "leads back to itself"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "back to itself"),
        ({"items": {"$ref": "#/items"}}, "leads back to itself"),
        (doubled("anyOf", 28), "chain that is too long"),
        (chain(40), "chain that is too long"),
        (chain(1500), "chain that is too long"),
        ({"$dynamicRef": "#"}, "Dynamic references"),
        ({"pattern": "(a"}, "pattern of the schema is not valid"),
        ({"pattern": "(a)\\1"}, "pattern of the schema is not valid"),
        ({"pattern": "(?=a)b"}, "pattern of the schema is not valid"),
        ({"pattern": "((a{100}){100}){100}"}, "pattern of the schema is not valid or too large"),
        ({"patternProperties": {"[": {}}}, "pattern of the schema is not valid"),
        ({"allOf": [{"pattern": f"\\p{{L}}{{{n}}}"} for n in range(1, 1000)]}, "too large"),
        ({"type": "strin"}, "not valid at `#/type`"),
        ({"properties": {"a": {"minLength": -1}}}, "not valid at `#/properties/a/minLength`"),
        ({"properties": []}, "not valid at `#/properties`"),
    ],
)
def test_a_hostile_schema_is_refused_quickly(schema: dict[str, Any], sentence: str) -> None:
    with quickly(), pytest.raises(Invalid) as refused:
        check_schema(schema)
    assert sentence in refused.value.message
    with quickly(), pytest.raises(Invalid):
        schema_of(schema)


BRANCHES = {  # an ordinary recursive union; without a limit its cost doubles with each level of the value
    "$ref": "#/$defs/expr",
    "$defs": {
        "expr": {
            "anyOf": [
                {"type": "object", "properties": {"op": {"const": op}, "of": {"$ref": "#/$defs/expr"}}}
                for op in ("plus", "minus", "not")
            ]
            + [{"type": "integer"}]
        }
    },
}


def expression(levels: int, last: Any = 1) -> Any:
    for _ in range(levels):
        last = {"op": "not", "of": last}
    return last


def deep_list(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 100_000 + "b"),
        ({"pattern": "(x+x+)+y"}, "x" * 100_000),
        ({"pattern": ".*a[ab]{2000}c"}, "aab" * 100_000),
        ({"items": {"pattern": "(a|aa|aaa|b|ab){1,300}c"}}, ["ab" * 100] * 2000),
        ({"patternProperties": {f"a{n}.*b.*c": {} for n in range(100)}}, {f"a{n}b": n for n in range(100_000)}),
        (doubled("anyOf", 14), 1),
        (doubled("allOf", 14), 1),
        (doubled("oneOf", 14), "x"),
        (doubled("anyOf", 10), 1),
        (BRANCHES, expression(30, "x")),
        (BRANCHES, expression(6, "x")),
        ({"items": {"$ref": "#"}, "type": "array"}, deep_list(50)),
        ({"items": {"$ref": "#"}}, deep_list(100_000)),
        ({"items": {"enum": list(range(5000))}}, [-1] * 50_000),
        ({"items": {"required": [str(n) for n in range(5000)]}}, [{} for _ in range(50_000)]),
        ({"type": "string"}, {1, 2}),
        ({"type": "object"}, {1: 2}),
        ({"type": "number"}, float("nan")),
        ({"items": {"type": "number"}}, [1, "\ud800"]),
    ],
)
def test_a_hostile_value_is_refused_quickly(schema: dict[str, Any], value: Any) -> None:
    check_schema(schema)
    with quickly(), pytest.raises(Invalid):
        check_value(schema, value)


def test_ordinary_large_values_are_checked() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"name": {"pattern": "^[A-Z][a-z]+$"}}}}
    with quickly():
        check_value(schema, [{"name": "Ada"}] * 10_000)
        check_value(BRANCHES, expression(8))
        check_value({"type": "string"}, "x" * 1_000_000)
