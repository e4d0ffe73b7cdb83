"""Python types as JSON Schemas, and JSON values as instances of them.

msgspec handles plain types, Literal, dataclasses, TypedDicts and its own structs. Pydantic models describe and convert
themselves, also inside other types; pydantic is not imported here. Conversion is strict: "1" is not a number. Errors
name places and types, never values.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from runyard.base.json_schema.values import check_schema, check_value
from runyard.errors import Invalid

SchemaSource: TypeAlias = Any  # a type, or a JSON Schema as a dict. Python has no type for "any annotation"

DEFINITIONS = "#/$defs/"


def schema_of(source: SchemaSource) -> dict[str, Any]:
    """Return the JSON Schema of a type, with the object itself at the top, as model providers expect.

    A dict is taken as a schema and returned after it was checked. Raise Invalid if there is no schema, or
    `check_schema` refuses it."""
    if isinstance(source, Mapping):
        schema = dict(source)
    elif isinstance(source, str | bytes | int | float | list | tuple):
        raise Invalid("The schema is neither a type nor a dict. Pass a type, or a JSON Schema as a dict.")
    else:
        schema = described(source)
    check_schema(schema)
    return schema


def convert(source: SchemaSource, value: Any) -> Any:
    """Return the JSON value as an instance of the type. A value for a JSON Schema is returned as it is.

    Raise Invalid with the place and the rule if it does not fit."""
    if isinstance(source, Mapping):
        check_value(source, value)
        return value
    try:
        return converted(value, source)
    except msgspec.ValidationError as error:
        check_value(described(source), value)  # its sentence names the place inside a pydantic model, too
        raise Invalid(f"The value does not fit: {without_values(str(error))}.") from None


def described(source: Any) -> dict[str, Any]:
    """Return the schema of a type, not yet checked. Raise Invalid if the type has none."""
    try:
        schema = _model_schema(source) if _is_model(source) else msgspec.json.schema(source, schema_hook=_model_schema)
    except (TypeError, ValueError, NotImplementedError, RecursionError):
        name = getattr(source, "__name__", "")
        raise Invalid(f"The type {name} cannot be described as JSON." if name else "This is not a type.") from None
    definitions: dict[str, Any] = {}
    top = _hoisted(schema, definitions)
    return _with_object_on_top(top, definitions)


def converted(value: Any, kind: Any) -> Any:
    """Convert the value to the type. Raise msgspec.ValidationError if it does not fit."""
    return msgspec.convert(value, kind, str_keys=True, dec_hook=_model)


def without_values(message: str) -> str:
    """Return msgspec's message if it names only types and our own fields, otherwise only the place."""
    if message.startswith(("Expected `", "Object missing required field")):
        return message[0].lower() + message[1:]
    if message.startswith("Object contains unknown field"):
        return "it has an unknown field"
    _, found, place = message.partition(" - at ")
    return f"wrong value at {place}" if found else "wrong value"


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "model_validate_json") and hasattr(kind, "model_json_schema")


def _model_schema(kind: type) -> dict[str, Any]:
    if not _is_model(kind):
        raise NotImplementedError
    schema: dict[str, Any] = kind.model_json_schema(ref_template=f"{DEFINITIONS}{{model}}")  # type: ignore[attr-defined]
    return schema


def _model(kind: type, value: Any) -> Any:
    if not _is_model(kind):
        raise NotImplementedError
    try:
        return kind.model_validate_json(msgspec.json.encode(value), strict=True)  # type: ignore[attr-defined]
    except ValueError as error:
        problems = error.errors() if hasattr(error, "errors") else [{"type": "value"}]
        # its own message may hold the value
        raise ValueError(f"Expected `{kind.__name__}` ({problems[0]['type']})") from None


def _hoisted(schema: Any, definitions: dict[str, Any]) -> Any:
    """Move the definitions inside models' schemas into `definitions`, where their references point."""
    if isinstance(schema, list):
        return [_hoisted(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    for name, definition in schema.get("$defs", {}).items():
        moved = _hoisted(definition, definitions)
        if definitions.setdefault(name, moved) != moved:
            raise Invalid(f"Two types of the schema have the name {name}; rename one.")
    return {key: _hoisted(part, definitions) for key, part in schema.items() if key != "$defs"}


def _with_object_on_top(top: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Replace a top that is only a reference by what it refers to. A recursive type also stays a definition."""
    name = str(top.get("$ref", "")).removeprefix(DEFINITIONS)
    if set(top) == {"$ref"} and name in definitions:
        others = {key: part for key, part in definitions.items() if key != name}
        top = dict(definitions[name])
        if f'"{DEFINITIONS}{name}"'.encode() not in msgspec.json.encode([top, others]):
            definitions = others
    return top | ({"$defs": definitions} if definitions else {})
