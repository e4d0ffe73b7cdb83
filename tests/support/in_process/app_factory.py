"""`create_app`, quicker for test suites that build a thousand apps.

Half of the work of building an app is that FastAPI makes a pydantic adapter for every parameter of every route. An
adapter depends on nothing but the type, so here it is made once.
"""

from typing import Any

import fastapi._compat.v2 as fastapi_fields
from pydantic import TypeAdapter

from runyard.app.asgi import create_app

__all__ = ["create_app"]

_adapters: dict[str, TypeAdapter[Any]] = {}


def _adapter(kind: Any, **options: Any) -> TypeAdapter[Any]:
    key = repr((kind, options))
    if key not in _adapters:
        _adapters[key] = TypeAdapter(kind, **options)
    return _adapters[key]


fastapi_fields.TypeAdapter = _adapter  # type: ignore[assignment, attr-defined]
