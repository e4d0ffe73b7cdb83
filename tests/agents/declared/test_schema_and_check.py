"""A tool's schema describes its input completely, and input that does not fit never reaches the function."""

import dataclasses
from typing import Annotated, Any, Literal, Optional, TypedDict

import msgspec
import pytest
from pydantic import BaseModel

from runyard import tool
from runyard.agents.tools.docstrings import read
from runyard.agents.tools.tool import Tool
from runyard.errors import InvalidInput


@dataclasses.dataclass
class Money:
    amount: float
    currency: Literal["EUR", "NOK"]


class Options(TypedDict, total=False):
    gift: bool


class Street(BaseModel):
    name: str


class Address(BaseModel):
    street: Street
    zip: int


class Line(msgspec.Struct):
    sku: str
    count: int = 1


@tool
async def order(
    lines: list[Line],
    pay: Money,
    to: Address,
    options: Options,
    also_to: Optional[list[Address]] = None,  # noqa: UP045
    tags: dict[str, int] | None = None,
    express: bool = False,
    note: Annotated[str, "what the courier reads"] = "",
) -> dict[str, Any]:
    """Order goods
    for a customer.

    It takes a while.

    Args:
        lines: what to order,
            one entry a kind
        pay (Money): what it costs

    Returns:
        tags: nothing of interest
    """
    return {"to": type(to).__name__, "pay": type(pay).__name__, "line": type(lines[0]).__name__, "zip": to.zip}


def given(**other: Any) -> dict[str, Any]:
    base = {
        "lines": [{"sku": "a"}],
        "pay": {"amount": 3, "currency": "EUR"},
        "to": {"street": {"name": "Storgata"}, "zip": 123},
        "options": {},
    }
    return base | other


def test_the_schema_describes_every_parameter() -> None:
    properties = order.schema["properties"]

    assert order.name == "order"
    assert order.description == "Order goods for a customer."
    assert order.schema["type"] == "object"
    assert order.schema["additionalProperties"] is False
    assert order.schema["required"] == ["lines", "pay", "to", "options"]
    assert properties["lines"]["description"] == "what to order, one entry a kind"
    assert properties["pay"]["description"] == "what it costs"
    assert properties["note"] == {"type": "string", "default": "", "description": "what the courier reads"}
    assert properties["express"] == {"type": "boolean", "default": False}
    assert "description" not in properties["tags"]


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    names = set(order.schema["$defs"])
    assert {"Street", "Money", "Line", "Options"} <= names
    for reference in _references(order.schema):
        assert reference.removeprefix("#/$defs/") in names


async def test_the_function_gets_typed_arguments() -> None:
    assert await order.run(given(), None, "k") == {"to": "Address", "pay": "Money", "line": "Line", "zip": 123}


@pytest.mark.parametrize(
    "wrong",
    [
        {"lines": [{"sku": 1}]},
        {"lines": "SECRET"},
        {"pay": {"amount": "3", "currency": "EUR"}},
        {"pay": {"amount": 3, "currency": "SECRET"}},
        {"to": {"street": {"name": "x"}, "zip": "SECRET"}},
        {"to": {"street": {}, "zip": 1}},
        {"also_to": [{"street": {"name": "x"}, "zip": "SECRET"}]},
        {"tags": {"SECRET": "SECRET"}},
        {"express": 1},
        {"note": None},
        {"SECRET": 1},
    ],
    ids=str,
)
def test_an_invalid_value_is_described_in_one_sentence_without_the_value(wrong: dict[str, Any]) -> None:
    order.check(given())
    with pytest.raises(InvalidInput) as caught:
        order.check(given(**wrong))
    assert caught.value.message.startswith("The arguments of order do not fit: ")
    assert "SECRET" not in caught.value.message
    assert caught.value.code == "invalid_input"


def test_a_value_that_is_no_object_is_refused() -> None:
    nothing: list[Any] = [None, [], "SECRET", 3]
    for value in nothing:
        with pytest.raises(InvalidInput):
            order.check(value)


@pytest.mark.parametrize(
    "doc",
    [
        "Do it.\n\nArgs:\n    a: first\n      and more\n    b (int, optional): second\n\nRaises:\n    c: never",
        "Do it.\n\n:param a: first\n    and more\n:param int b: second\n:returns: c",
        "Do it.\n\nParameters\n----------\na : str\n    first\n    and more\nb\n    second\n\nReturns\n-------\nc",
    ],
    ids=["google", "sphinx", "numpy"],
)
def test_arguments_are_read_from_the_usual_docstrings(doc: str) -> None:
    assert read(doc) == ("Do it.", {"a": "first and more", "b": "second"})


def test_a_tool_without_a_docstring_describes_nothing() -> None:
    def silent(a: int) -> None: ...

    assert read(None) == ("", {})
    assert Tool(silent).schema["properties"] == {"a": {"type": "integer"}}


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [found for part in schema for found in _references(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    return own + [found for part in schema.values() for found in _references(part)]
