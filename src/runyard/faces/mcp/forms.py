"""Waits as forms of MCP (elicitation), and the values in the answers. Pure.

A form of MCP is a flat object of texts, numbers, choices, and yes or no. A schema that is one of these becomes the only
field of a form. Any other schema becomes a field for JSON as text.
"""

from typing import Any

import msgspec

from runyard.domain.wait import ClientWait

ONLY = "value"  # the field of a form that asks for one value
PLAIN = frozenset({"string", "number", "integer", "boolean"})
KEYWORDS = ("type", "title", "description", "default", "enum", "minimum", "maximum", "minLength", "maxLength", "format")
FORMATS = frozenset({"email", "uri", "date", "date-time"})
APPROVAL = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean", "title": "Approve"},
        "reason": {"type": "string", "title": "Reason", "description": "With a rejection: the reason, for the agent."},
    },
    "required": ["approved"],
}
_encode = msgspec.json.Encoder().encode


def question(wait: ClientWait) -> str:
    """Return what a wait asks, in a sentence for people."""
    if wait.is_approval:
        more = wait.input
        if wait.kind == "confirmation" and isinstance(more, dict):
            more = {name: value for name, value in more.items() if name != "question"}
        return f"{wait.approval_question}{_details(more)}"
    if wait.kind == "client_tool":
        return f"The agent needs the result of {wait.name}.{_details(wait.input)}"
    return wait.prompt or wait.name


def _details(given: Any) -> str:
    return f" {_encode(given).decode()}" if given else ""


def elicitation(wait: ClientWait) -> dict[str, Any]:
    """Return the request that asks a person for the answer of a wait."""
    schema = APPROVAL if wait.is_approval else _form(wait.schema)
    params = {"mode": "form", "message": question(wait), "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def _form(schema: dict[str, Any] | None) -> dict[str, Any]:
    if schema is not None and _is_flat(schema):
        fields = {name: _field(each) for name, each in schema["properties"].items()}
        return {"type": "object", "properties": fields, "required": list(schema.get("required", ()))}
    if schema is not None and _is_plain(schema):
        only = _field(schema)
    else:
        hint = "JSON" if schema is None else f"JSON that fits {_encode(schema).decode()}"
        only = {"type": "string", "title": "Answer", "description": hint}
    return {"type": "object", "properties": {ONLY: only}, "required": [ONLY]}


def _is_flat(schema: Any) -> bool:
    fields = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(fields, dict) or not fields:
        return False
    return all(isinstance(each, dict) and _is_plain(each) for each in fields.values())


def _is_plain(schema: dict[str, Any]) -> bool:
    choices = schema.get("enum")
    if choices is not None:
        return schema.get("type") == "string" and all(isinstance(each, str) for each in choices)
    return schema.get("type") in PLAIN


def _field(schema: dict[str, Any]) -> dict[str, Any]:
    field = {name: schema[name] for name in KEYWORDS if name in schema}
    if field.get("format") not in FORMATS:
        field.pop("format", None)
    return field


def value_of(wait: ClientWait, content: dict[str, Any]) -> Any:
    """Return the value in the content of a filled form. The server checks it afterwards."""
    schema = wait.schema
    if schema is not None and _is_flat(schema):
        return content
    given = content.get(ONLY)
    if (schema is not None and _is_plain(schema)) or not isinstance(given, str):
        return given
    try:
        return msgspec.json.decode(given)
    except msgspec.DecodeError:
        return given
