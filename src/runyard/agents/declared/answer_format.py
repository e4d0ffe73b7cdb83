"""The format of a model agent's answer: a JSON Schema, and how an answer of the model is checked against it."""

import re
from typing import Any

import msgspec

from runyard.base.json_schema import SchemaSource, convert, schema_of
from runyard.domain.events import cleaned
from runyard.errors import Invalid

_FENCED = re.compile(r"\s*```[A-Za-z]*\n(.*)```\s*", re.DOTALL)


class AnswerFormat:
    """A type or a JSON Schema that the answer must fit. Raise Invalid if it has no schema or is not an object."""

    def __init__(self, source: SchemaSource) -> None:
        self._source = source
        self.schema: dict[str, Any] = schema_of(source)
        if self.schema.get("type") != "object":
            raise Invalid("answer must describe an object: a pydantic model, a struct or a schema of type `object`.")

    def read(self, text: str) -> dict[str, Any]:
        """Return the answer as JSON. Raise Invalid with the place and the rule if it does not fit. A code fence around
        the JSON is ignored, because models that are only instructed often write one."""
        fenced = _FENCED.fullmatch(text)
        try:
            value = cleaned(msgspec.json.decode(fenced[1] if fenced else text))
        except (msgspec.DecodeError, RecursionError):
            raise Invalid("The answer is not JSON.") from None
        convert(self._source, value)
        if not isinstance(value, dict):
            raise Invalid("The answer is not an object.")
        return value
