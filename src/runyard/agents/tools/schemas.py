"""The JSON schema of a tool's input, and conversion of a JSON input to Python values.

msgspec handles plain types, Literal, dataclasses, TypedDicts and its own structs; pydantic models provide their own
schema. Conversion is strict: "1" is not a number. Errors name places and types, never values.
"""

from typing import Any

import msgspec

from runyard.errors import Invalid


def schema_of(struct: type[msgspec.Struct], tool: str) -> dict[str, Any]:
    """Return the struct's JSON schema with the object itself at the top, as model providers expect."""
    try:
        schema = msgspec.json.schema(struct, schema_hook=_model_schema)
    except (TypeError, ValueError, NotImplementedError):
        raise Invalid(f"Tool {tool}: its parameters cannot be described as JSON.") from None
    others = dict(schema.get("$defs", {}))
    top: dict[str, Any] = _hoisted(dict(others.pop(struct.__name__, schema)), others)
    top.pop("title", None)
    return top | ({"$defs": others} if others else {})


def convert(given: Any, struct: type[msgspec.Struct]) -> Any:
    """Convert `given` to the struct. Raise msgspec.ValidationError if it does not fit."""
    return msgspec.convert(given, struct, str_keys=True, dec_hook=_model)


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
    schema: dict[str, Any] = kind.model_json_schema(ref_template="#/$defs/{model}")  # type: ignore[attr-defined]
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


def _hoisted(schema: Any, others: dict[str, Any]) -> Any:
    """Move the definitions inside models' schemas into `others`, where their references point."""
    if isinstance(schema, list):
        return [_hoisted(part, others) for part in schema]
    if not isinstance(schema, dict):
        return schema
    for name, definition in schema.get("$defs", {}).items():
        others.setdefault(name, _hoisted(definition, others))
    return {key: _hoisted(part, others) for key, part in schema.items() if key != "$defs"}
