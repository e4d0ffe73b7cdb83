"""Checks that the OpenAPI document declares every status that a route answers, in all tests of apps in process."""

from re import Pattern
from typing import Any

from starlette.routing import compile_path
from starlette.types import Message, Receive, Scope, Send

from runyard.web.access_log import route_of
from runyard.web.app import App
from runyard.web.errors.problems import CLIENT_GONE

Operations = dict[str, frozenset[int]]  # the statuses of each method

_documents: dict[bool, "Document"] = {}  # with keys and without: all apps have the same routes


class Document:
    """The declared statuses of each path and method."""

    def __init__(self, paths: dict[str, Any]) -> None:
        self._paths: dict[str, Operations] = {
            path: {
                method.upper(): frozenset(int(status) for status in operation["responses"])
                for method, operation in methods.items()
            }
            for path, methods in paths.items()
        }
        by_parameters = sorted(self._paths, key=lambda path: path.count("{"))
        self._patterns: list[tuple[Pattern[str], str]] = [(compile_path(path)[0], path) for path in by_parameters]

    def undeclared(self, method: str, path: str, route: str, status: int) -> str | None:
        """Return what the document lacks, or None. `route` is the path of the route, if the request got that far."""
        if route not in self._paths:
            route = next((name for pattern, name in self._patterns if pattern.match(path)), "")
        declared = self._paths.get(route, {}).get(method)
        if declared is None or status in declared or status == CLIENT_GONE:
            return None
        return f"{method} {route} answered {status}, which the OpenAPI document does not declare"


class DeclaredStatuses:
    """An app whose responses are compared with the OpenAPI document. `found` has the undeclared ones."""

    def __init__(self, app: App, keys: bool) -> None:
        self.app = app
        self.found: set[str] = set()
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def compared(message: Message) -> None:
            if message["type"] == "http.response.start":
                if self._keys not in _documents:
                    _documents[self._keys] = Document(self.app.openapi()["paths"])
                document, status = _documents[self._keys], message["status"]
                if lack := document.undeclared(scope["method"], scope["path"], route_of(scope), status):
                    self.found.add(lack)
            await send(message)

        await self.app(scope, receive, compared)
