"""JSON responses, idempotency keys and times, for every face."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from fastapi import Header
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from runyard.errors import Invalid

KEY_LENGTH = 200
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=KEY_LENGTH)]


def key_of(request: Request) -> str | None:
    """Return the Idempotency-Key of a request to a fast route; other endpoints declare a `Key`."""
    key = request.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= KEY_LENGTH:
        raise Invalid(f"An Idempotency-Key has 1 to {KEY_LENGTH} characters.")
    return key


class Json(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return msgspec.json.encode(content, enc_hook=fields)

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        if headers:
            super().init_headers(headers)
        else:
            length = str(len(self.body)).encode()
            self.raw_headers = [(b"content-length", length), (b"content-type", b"application/json")]


def fields(model: Any) -> Any:
    """Return the fields of a model for msgspec. Pydantic's own encoder fails on deeply nested values."""
    if isinstance(model, BaseModel):
        return vars(model)
    raise TypeError(f"{type(model).__name__} is not JSON.")
