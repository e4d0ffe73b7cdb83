"""Sentences that say where and why a value does not fit its schema.

They quote the schema, never the value. A name in the value is shown only if the schema declares it.
"""

from collections.abc import Collection

import msgspec
from jsonschema_rs import ValidationError, ValidationErrorKind

LONGEST_QUOTE = 200  # characters
LONGEST_PLACE = 20  # names and numbers


def sentence(error: ValidationError, names: Collection[str]) -> str:
    """Return the sentence. `names` are the properties that the schema declares."""
    cause = _closest(error)
    return f"The value does not fit the schema: {place(cause.instance_path, names)} {_rule(cause.kind)}."


def place(path: list[str | int], names: Collection[str]) -> str:
    """Return a path into a value, such as `$.lines[2].amount`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" if part in names else "[...]" for part in path]
    shown = "".join(parts[:LONGEST_PLACE]) + ("..." if len(parts) > LONGEST_PLACE else "")
    return f"`${shown}`"


def _closest(error: ValidationError) -> ValidationError:
    """Return the error inside the alternative that fits the value best, if one fits better than the others."""
    kind = error.kind
    if not isinstance(kind, ValidationErrorKind.AnyOf | ValidationErrorKind.OneOfNotValid):
        return error
    inner = [_closest(errors[0]) for errors in kind.context if errors]
    deeper = [each for each in inner if not _is_wrong_type(each, error)]
    if not deeper:
        return error
    best = max(deeper, key=lambda each: len(each.instance_path))
    return best if len(deeper) == 1 or len(best.instance_path) > len(error.instance_path) else error


def _is_wrong_type(inner: ValidationError, outer: ValidationError) -> bool:
    return inner.kind.name in ("type", "const", "enum") and len(inner.instance_path) == len(outer.instance_path)


def _rule(kind: ValidationErrorKind) -> str:
    match kind:
        case ValidationErrorKind.Type(types):
            return f"must be of type {' or '.join(types)}"
        case ValidationErrorKind.Required(name):
            return f"lacks the property {_quoted(name)}"
        case (
            ValidationErrorKind.AdditionalProperties()
            | ValidationErrorKind.UnevaluatedProperties()
            | ValidationErrorKind.FalseSchema()
        ):
            return "has a property or a value that is not allowed"
        case ValidationErrorKind.Enum(options):
            return f"must be one of {_quoted(options)}"
        case ValidationErrorKind.Constant(expected):
            return f"must be {_quoted(expected)}"
        case ValidationErrorKind.Pattern(pattern):
            return f"must match the pattern {_quoted(pattern)}"
        case ValidationErrorKind.AnyOf() | ValidationErrorKind.OneOfNotValid():
            return "fits none of the alternatives"
        case ValidationErrorKind.OneOfMultipleValid():
            return "fits more than one of the alternatives"
        case _:
            return _limit(kind)


LIMITS = {
    "minimum": "must be at least",
    "maximum": "must be at most",
    "exclusiveMinimum": "must be more than",
    "exclusiveMaximum": "must be less than",
    "multipleOf": "must be a multiple of",
    "minLength": "must have a length of at least",
    "maxLength": "must have a length of at most",
    "minItems": "must have a number of items of at least",
    "maxItems": "must have a number of items of at most",
    "minProperties": "must have a number of properties of at least",
    "maxProperties": "must have a number of properties of at most",
}


def _limit(kind: ValidationErrorKind) -> str:
    words = LIMITS.get(kind.name)
    return f"breaks the rule `{kind.name}`" if words is None else f"{words} {_quoted(kind.value)}"


def _quoted(found: object) -> str:
    """Return a value of the schema, cut if it is long."""
    text = f"`{found}`" if isinstance(found, str) else msgspec.json.encode(found).decode()
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}..."
