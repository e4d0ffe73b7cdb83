"""Forms for a terminal, made from a JSON Schema: fields one by one, enums as a choice, everything else as JSON.

A form knows a part of JSON Schema: text, numbers, yes or no, enums, lists of such values and objects of all of these. A
field that is more than that takes JSON. The whole answer is checked against the schema before it is returned.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from runyard.cli.terminal.text import one_line, plain
from runyard.errors import Invalid

if TYPE_CHECKING:
    from typing import TypeAlias

    Schema: TypeAlias = Mapping[str, Any]

Read = Callable[[str], str | None]
Say = Callable[[str], None]
MOST_LEVELS = 4
NOTHING = object()  # a field that was left empty


class FormEnded(Exception):
    """The input ended before the form was filled in."""


class Form:
    """Asks for a value of a schema. `read` reads a line after a prompt, None at the end of the input; `say` shows a
    line."""

    def __init__(self, schema: "Schema | None", read: Read, say: Say) -> None:
        self._root: Schema = schema or {}
        self._read = read
        self._say = say

    def fill(self) -> Any:
        """Ask until the value fits the schema, and return it. Raises FormEnded at the end of the input."""
        from runyard.base.json_schema import check_value

        while True:
            value = self._value(self._root, "answer", True, 0)
            try:
                check_value(self._root, value)
            except Invalid as error:
                self._say(error.message)
                continue
            return value

    def _value(self, schema: "Schema", label: str, is_required: bool, level: int) -> Any:
        schema, is_optional = self._resolved(schema)
        is_required = is_required and not is_optional
        if schema.get("type") == "object" and schema.get("properties") and level < MOST_LEVELS:
            return self._object(schema, label, level)
        if said := schema.get("description"):
            self._say(f"  {one_line(said, 200)}")
        while True:
            line = self._line(f"  {plain(label)}{_hint(schema, is_required)}: ")
            if not line and not is_required:
                return None if is_optional else NOTHING
            try:
                return _parsed(schema, line)
            except ValueError as error:
                self._say(f"  {error}")

    def _object(self, schema: "Schema", label: str, level: int) -> Any:
        if level:
            self._say(f"  {plain(label)}")
        required, found = schema.get("required", ()), {}
        prefix = f"{label}." if level else ""
        for name, field in schema["properties"].items():
            given = field if isinstance(field, dict) else {}
            value = self._value(given, f"{prefix}{name}", name in required, level + 1)
            if value is not NOTHING:
                found[name] = value
        return found if found or not level or required else NOTHING

    def _resolved(self, schema: "Schema") -> tuple["Schema", bool]:
        """Return the schema behind references and behind `X or null`, and whether null is allowed."""
        is_optional = False
        for _ in range(8):
            if isinstance(reference := schema.get("$ref"), str):
                schema = self._at(reference)
                continue
            options = [each for each in schema.get("anyOf", ()) if isinstance(each, dict)]
            others = [each for each in options if each.get("type") != "null"]
            if len(others) != 1 or len(others) == len(options):
                break
            said = {"description": schema["description"]} if "description" in schema else {}
            schema, is_optional = {**others[0], **said}, True
        return schema, is_optional

    def _at(self, reference: str) -> "Schema":
        found: Any = self._root
        for part in reference.removeprefix("#").strip("/").split("/"):
            found = found.get(part, {}) if part and isinstance(found, dict) else found
        return found if isinstance(found, dict) else {}

    def _line(self, prompt: str) -> str:
        line = self._read(prompt)
        if line is None:
            raise FormEnded
        return line.strip()


def _hint(schema: "Schema", is_required: bool) -> str:
    """Return what may be entered, after the name of a field."""
    may_be_empty = "" if is_required else ", or empty"
    if options := schema.get("enum"):
        return f" ({', '.join(f'{n} = {_shown(each)}' for n, each in enumerate(options, 1))}{may_be_empty})"
    match schema.get("type"):
        case "boolean":
            return f" (y or n{may_be_empty})"
        case "integer":
            return f" (whole number{may_be_empty})"
        case "number":
            return f" (number{may_be_empty})"
        case "string":
            return "" if is_required else " (may be empty)"
        case "array" if _is_simple(schema.get("items")):
            return f" (separated by commas{may_be_empty})"
        case _:
            return f" (JSON{may_be_empty})"


def _is_simple(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") in ("string", "integer", "number", "boolean")


def _parsed(schema: "Schema", line: str) -> Any:
    """Return the value of a line. Raises ValueError with a sentence."""
    if options := schema.get("enum"):
        return _chosen(options, line)
    match schema.get("type"):
        case "string":
            return line
        case "boolean":
            if line.lower() not in ("y", "n", "yes", "no"):
                raise ValueError("Enter y or n.")
            return line.lower().startswith("y")
        case "integer":
            return _number(int, line, "Enter a whole number.")
        case "number":
            return _number(float, line, "Enter a number.")
        case "array" if _is_simple(schema.get("items")):
            return [_parsed(schema["items"], part.strip()) for part in line.split(",") if part.strip()]
        case _:
            return _json(line)


def _chosen(options: list[Any], line: str) -> Any:
    by_name = [each for each in options if _shown(each) == line]
    if by_name:
        return by_name[0]
    if line.isdecimal() and 1 <= int(line) <= len(options):
        return options[int(line) - 1]
    raise ValueError(f"Enter a number from 1 to {len(options)}.")


def _number(kind: Callable[[str], Any], line: str, otherwise: str) -> Any:
    try:
        return kind(line)
    except ValueError:
        raise ValueError(otherwise) from None


def _json(line: str) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        raise ValueError('Enter JSON, such as "text", 5 or {"name": "value"}.') from None


def _shown(value: Any) -> str:
    return one_line(value, 40)
