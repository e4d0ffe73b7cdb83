"""Forms in the terminal: fields one by one, checked before the answer is sent."""

from typing import Any

import pytest

from runyard.cli.terminal.forms import Form, FormEnded

SEAT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "row": {"type": "integer", "maximum": 30, "description": "Counted from the front."},
        "side": {"enum": ["left", "right"]},
        "vegan": {"type": "boolean"},
        "bags": {"type": "array", "items": {"type": "number"}},
        "guest": {"$ref": "#/$defs/Guest"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "extra": {},
    },
    "required": ["row", "side", "guest"],
    "$defs": {"Guest": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
}


class Person:
    """Enters one line after another, and sees the prompts and the notes."""

    def __init__(self, *lines: str) -> None:
        self._lines = iter(lines)
        self.seen: list[str] = []

    def read(self, prompt: str) -> str | None:
        self.seen.append(prompt)
        return next(self._lines, None)

    def fill(self, schema: dict[str, Any] | None) -> Any:
        return Form(schema, self.read, self.seen.append).fill()


def test_the_fields_of_an_object_are_asked_one_by_one() -> None:
    person = Person("12", "2", "y", "1, 2.5", "Ann", "", "[1]")
    value = {"row": 12, "side": "right", "vegan": True, "bags": [1, 2.5], "guest": {"name": "Ann"}, "note": None}
    assert person.fill(SEAT) == {**value, "extra": [1]}
    assert person.seen == [
        "  Counted from the front.",
        "  row (whole number): ",
        "  side (1 = left, 2 = right): ",
        "  vegan (y or n, or empty): ",
        "  bags (separated by commas, or empty): ",
        "  guest",
        "  guest.name: ",
        "  note (may be empty): ",
        "  extra (JSON, or empty): ",
    ]
    assert max(map(len, person.seen)) <= 80


def test_an_invalid_value_is_asked_for_again_and_nothing_is_sent() -> None:
    person = Person("far", "12", "up", "left", "", "", "Ann", "", "")
    assert person.fill(SEAT) == {"row": 12, "side": "left", "guest": {"name": "Ann"}, "note": None}
    assert "  Enter a whole number." in person.seen
    assert "  Enter a number from 1 to 2." in person.seen


def test_the_whole_answer_is_checked_against_the_schema() -> None:
    person = Person("31", "30")
    assert person.fill({"type": "integer", "maximum": 30}) == 30
    assert "The value does not fit the schema: `$` must be at most 30." in person.seen


@pytest.mark.parametrize(
    ("schema", "line", "value"),
    [
        (None, '{"a": 1}', {"a": 1}),
        ({"type": "string"}, "12", "12"),
        ({"enum": [1, "2"]}, "2", "2"),
        ({"type": "boolean"}, "no", False),
        ({"type": "array", "items": {"type": "object"}}, "[{}]", [{}]),
    ],
)
def test_an_answer_that_is_no_object_is_one_line(schema: dict[str, Any] | None, line: str, value: object) -> None:
    assert Person(line).fill(schema) == value


def test_the_end_of_the_input_ends_the_form() -> None:
    with pytest.raises(FormEnded):
        Person("1").fill(SEAT)
