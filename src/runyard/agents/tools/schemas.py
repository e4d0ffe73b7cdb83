"""The JSON schema of a tool's input, and conversion of a JSON input to Python values."""

from typing import Any

import msgspec

from runyard.base.json_schema.python_types import converted, described, without_values
from runyard.errors import Invalid

__all__ = ["converted", "schema_of", "without_values"]


def schema_of(struct: type[msgspec.Struct], tool: str) -> dict[str, Any]:
    """Return the struct's JSON schema with the object itself at the top, as model providers expect."""
    try:
        schema = described(struct)
    except Invalid:
        raise Invalid(f"Tool {tool}: its parameters cannot be described as JSON.") from None
    schema.pop("title", None)
    return schema
