"""JSON Schemas from outside: types are described and converted, and misfits are explained."""

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runyard.base.json_schema import check_schema, check_value, convert, schema_of
from runyard.errors import Invalid


def refusal(schema: dict[str, Any], value: Any) -> str | None:
    """Return why the value does not fit, or None if it does."""
    try:
        check_value(schema, value)
    except Invalid as refused:
        return refused.message
    return None


class Line(pydantic.BaseModel):
    text: str
    amount: float = pydantic.Field(gt=0)


class Invoice(pydantic.BaseModel):
    number: str
    lines: list[Line] = []


class Seat(msgspec.Struct):
    row: int
    letter: Literal["A", "B"]


class Folder(msgspec.Struct):
    name: str
    folders: list["Folder"] = []


class Comment(pydantic.BaseModel):
    text: str
    replies: list["Comment"] = []


@dataclass
class Point:
    x: int
    y: int = 0


class Named(TypedDict):
    name: str


@dataclass
class Order:
    invoice: Invoice
    seat: Seat


# --- types -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "value", "typed"),
    [
        (Invoice, {"number": "7", "lines": [{"text": "a", "amount": 2.5}]}, None),
        (Seat, {"row": 3, "letter": "B"}, Seat(3, "B")),
        (Folder, {"name": "a", "folders": [{"name": "b"}]}, Folder("a", [Folder("b")])),
        (Comment, {"text": "a", "replies": [{"text": "b"}]}, Comment(text="a", replies=[Comment(text="b")])),
        (Point, {"x": 1}, Point(1)),
        (Named, {"name": "Ada"}, {"name": "Ada"}),
        (Order, {"invoice": {"number": "7"}, "seat": {"row": 1, "letter": "A"}}, None),
        (list[Seat], [{"row": 3, "letter": "B"}], [Seat(3, "B")]),
        (Invoice | None, None, None),
        (int, 5, 5),
        (Literal["yes", "no"], "no", "no"),
        (bool, True, True),
        ({"type": "integer"}, 5, 5),
    ],
)
def test_a_value_that_fits_the_schema_of_a_type_becomes_an_instance_of_it(source: Any, value: Any, typed: Any) -> None:
    schema = schema_of(source)
    assert msgspec.json.decode(msgspec.json.encode(schema)) == schema
    check_value(schema, value)
    found = convert(source, value)
    assert typed is None or found == typed
    if source is Invoice:
        assert found == Invoice(number="7", lines=[Line(text="a", amount=2.5)])
    if source is Order:
        assert found == Order(Invoice(number="7"), Seat(1, "A"))


@pytest.mark.parametrize("source", [Invoice, Seat, Folder, Comment, Point, Named, Order])
def test_the_object_stands_at_the_top_of_its_schema(source: Any) -> None:
    assert schema_of(source)["type"] == "object"


def test_types_of_the_same_name_and_different_fields_are_refused() -> None:
    def other() -> type:
        class Line(pydantic.BaseModel):
            color: str

        class Drawing(pydantic.BaseModel):
            lines: list[Line]

        return Drawing

    @dataclass
    class Both:
        invoice: Invoice
        drawing: other()  # type: ignore[valid-type]

    with pytest.raises(Invalid, match="have the name Line; rename one"):
        schema_of(Both)


@pytest.mark.parametrize("source", ["string", 5, [int], object(), lambda: None, range])
def test_a_value_that_is_neither_a_type_nor_a_schema_is_refused(source: Any) -> None:
    with pytest.raises(Invalid):
        schema_of(source)


@pytest.mark.parametrize(
    ("source", "value", "sentence"),
    [
        (Invoice, {"number": "7", "lines": [{"text": "a", "amount": -1}]}, "`$.lines[0].amount` must be more than 0"),
        (Seat, {"row": "3", "letter": "B"}, "`$.row` must be of type integer"),
        (Point, {}, "`$` lacks the property `x`"),
        (list[Seat], [{"row": 1, "letter": "C"}], '`$[0].letter` must be one of ["A","B"]'),
        (Order, {"invoice": {}, "seat": {"row": 1, "letter": "A"}}, "`$.invoice` lacks the property `number`"),
        ({"type": "integer"}, "SECRET", "`$` must be of type integer"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_place_and_the_rule(
    source: Any, value: Any, sentence: str
) -> None:
    with pytest.raises(Invalid) as refused:
        convert(source, value)
    assert sentence in refused.value.message
    with pytest.raises(Invalid) as refused:
        check_value(schema_of(source), value)
    assert refused.value.message == f"The value does not fit the schema: {sentence}."


def test_a_rule_of_a_model_that_no_schema_can_state_is_kept() -> None:
    class Even(pydantic.BaseModel):
        number: int

        @pydantic.field_validator("number")
        @classmethod
        def is_even(cls, number: int) -> int:
            if number % 2:
                raise ValueError(f"{number} is odd")
            return number

    assert convert(Even, {"number": 4}) == Even(number=4)
    with pytest.raises(Invalid) as refused:
        convert(Even, {"number": 4711})
    assert refused.value.message == "The value does not fit: expected `Even` (value_error)."


# --- sentences -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        ({"const": 5}, "SECRET", "`$` must be 5"),
        ({"pattern": "^a+$"}, "SECRET", "`$` must match the pattern `^a+$`"),
        ({"maxLength": 2}, "SECRET", "`$` must have a length of at most 2"),
        ({"minItems": 2}, ["SECRET"], "`$` must have a number of items of at least 2"),
        ({"properties": {}, "additionalProperties": False}, {"SECRET": 1}, "`$` has a property or a value that is"),
        ({"additionalProperties": {"type": "string"}}, {"SECRET": 1}, "`$[...]` must be of type string"),
        ({"propertyNames": {"maxLength": 2}}, {"SECRET": 1}, "`$` breaks the rule `propertyNames`"),
        ({"not": {"type": "string"}}, "SECRET", "`$` breaks the rule `not`"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "SECRET", "`$` fits none of the alternatives"),
        ({"oneOf": [{"minLength": 1}, {"maxLength": 9}]}, "SECRET", "`$` fits more than one of the alternatives"),
        (
            {"anyOf": [{"type": "object", "properties": {"a": {"type": "number"}}}, {"type": "null"}]},
            {"a": "SECRET"},
            "`$.a` must be of type number",
        ),
        (
            {
                "anyOf": [
                    {"properties": {"kind": {"const": k}, k: {"type": "number"}}, "required": ["kind"]} for k in "ab"
                ]
            },
            {"kind": "b", "b": "SECRET"},
            "`$.",
        ),
        ({"enum": ["x" * 500]}, "SECRET", "x..."),
    ],
)
def test_a_sentence_quotes_the_schema_and_never_the_value(schema: dict[str, Any], value: Any, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_value(schema, value)
    assert sentence in refused.value.message
    assert "SECRET" not in refused.value.message
    assert len(refused.value.message) < 400


# --- verdicts --------------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "ab", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    parts = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": named,
            "additionalProperties": inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=2),
            "propertyNames": inner,
            "dependentSchemas": named,
            "items": inner,
            "prefixItems": parts,
            "contains": inner,
            "unevaluatedProperties": inner,
            "unevaluatedItems": inner,
            "allOf": parts,
            "anyOf": parts,
            "oneOf": parts,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
        },
    )


LEAVES = st.one_of(
    st.booleans(),
    st.sampled_from(
        [
            {},
            {"type": "string", "pattern": "^a"},
            {"type": ["integer", "null"], "minimum": 0},
            {"type": "array", "maxItems": 1},
            {"type": "object", "required": ["a"]},
            {"enum": [1, "a", None, []]},
            {"properties": {"a": {"$ref": "#"}}},
            {"items": {"$ref": "#/$defs/part"}},
            {"$ref": "#/$defs/part"},
        ]
    ),
)
SCHEMAS = schemas(st.recursive(LEAVES, schemas, max_leaves=8))
PART = {"type": ["object", "array", "string"], "additionalProperties": {"$ref": "#/$defs/part"}}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS, VALUES)
def test_the_verdict_is_that_of_another_validator(schema: dict[str, Any], value: Any) -> None:
    schema = schema | {"$defs": {"part": PART}}
    check_schema(schema)
    refused = refusal(schema, value)
    assert (refused is None) == jsonschema.Draft202012Validator(schema).is_valid(value)
    assert refused is None or "fit the schema" in refused


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.just("#"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["$ref", "$id", "$schema", "type", "items", "properties", "allOf", "pattern", "enum", "not"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(["$ref", "items", "properties", "anyOf", "if", "dependencies"]), JUNK), VALUES)
def test_any_json_is_a_schema_or_invalid(schema: dict[str, Any], value: Any) -> None:
    refused = refusal(schema, value)
    assert refused is None or refused.endswith(".")


def test_drafts_differ_as_they_should() -> None:
    pairs = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": [{"type": "integer"}],
        "additionalItems": False,
    }
    check_value(pairs, [1])
    with pytest.raises(Invalid):
        check_value(pairs, [1, 2])
    check_value({"$schema": "https://json-schema.org/draft/2019-09/schema", "items": [{"type": "integer"}]}, [1, "a"])
