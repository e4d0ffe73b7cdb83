"""How a model is asked for an answer of a JSON Schema. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

# The keywords that every provider with strict schemas supports. Other keywords are checked afterwards only.
STRICT_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs"}
    | {"title", "description"}
)


def instruction(schema: Mapping[str, Any]) -> str:
    """Return the instruction for a model that takes no schema."""
    text = msgspec.json.encode(schema).decode()
    return f"Answer with one JSON object that fits this JSON Schema, and with nothing else:\n{text}"


def instructed(messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the messages with the instruction at the end of the system message."""
    said = [dict(message) for message in messages]
    if not said or said[0]["role"] != "system":
        return [{"role": "system", "content": instruction(schema)}, *said]
    return [said[0] | {"content": f"{said[0]['content']}\n\n{instruction(schema)}"}, *said[1:]]


def is_strict(schema: Any) -> bool:
    """Return whether providers can enforce the schema: every object lists all its properties as required and allows no
    others, and there are only keywords that all of them know."""
    if not isinstance(schema, Mapping) or not STRICT_KEYWORDS.issuperset(schema):
        return False
    properties = schema.get("properties", {})
    if schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties)
    ):
        return False
    parts = [*properties.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    return all(is_strict(part) for part in [*parts, *([schema["items"]] if "items" in schema else [])])
