"""The door: who is asking, and whether they may. It stands before every route, so that none can forget it.

A key comes in `Authorization: Bearer` or `X-API-Key`, never in the address, which ends up in logs. Reading needs the
scope `read` and everything else `write`, but for the routes in `NEEDS`. What is refused is refused before the body is
read, and a missing, unknown, wrong, revoked or expired key all get the same answer.
"""

from collections.abc import Callable, Iterable
from re import Pattern
from typing import Annotated, Any

from fastapi import Depends
from starlette.requests import Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.domain import api_key
from runyard.domain.events import clean
from runyard.engine.access import LOCAL_CALLER, Access, Caller
from runyard.errors import BadRequest, Invalid, NotFound, RunyardError, ScopeMissing
from runyard.web import problems
from runyard.web.limits import Rates
from runyard.web.problems import CALLER, REFUSED, path_of

OPEN = ("/health", "/api/health", "/health/ready", "/", "/assets/{name}")  # to be read by anybody
NEEDS: dict[tuple[str, str], api_key.Scope] = {
    ("POST", "/api/approvals/{approval_id}"): "approve",
    ("POST", "/chats/{chat_id}/interactions/{interaction_id}/approve"): "approve",
    ("GET", "/metrics"): "operate",
    ("GET", "/api/overview"): "operate",
    ("GET", "/api/keys"): "operate",
    ("POST", "/api/keys"): "operate",
    ("DELETE", "/api/keys/{key_id}"): "operate",
}
_SPECIAL: dict[str, list[tuple[Pattern[str], api_key.Scope | None]]] = {}
for (_method, _path), _scope in {**{("GET", path): None for path in OPEN}, **NEEDS}.items():
    # as the router itself reads them, so that the two cannot differ about a path
    _SPECIAL.setdefault(_method, []).append((compile_path(_path)[0], _scope))
POLICY_VIOLATION = 1008


def need(method: str, path: str) -> api_key.Scope | None:
    """The scope that a request needs; None if anybody may send it."""
    method = "GET" if method == "HEAD" else method
    for pattern, scope in _SPECIAL.get(method, ()):
        if pattern.match(path):
            return scope
    return "read" if method in ("GET", "OPTIONS") else "write"


def describe(document: dict[str, Any]) -> None:
    """Say in an OpenAPI document which scope every operation needs."""
    document.setdefault("components", {})["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            scope = need(method.upper(), path)
            operation["security"] = [] if scope is None else [{"bearer": [scope]}, {"header": [scope]}]


class Guard:
    """Lets in who may, and says who it is. Without `access` no key is needed, and everybody is one owner."""

    def __init__(
        self, app: ASGIApp, access: Access | None, rates: Rates | None, refused: Callable[[str], None]
    ) -> None:
        self._app = app
        self._refused = refused
        self._access = access
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
        scope[REFUSED] = self._refused
        try:
            caller = LOCAL_CALLER if self._access is None else await self._caller(scope, self._access)
        except RunyardError as error:
            await problems.answer(error, scope)(scope, receive, send)
            return
        if caller is not None:
            scope[CALLER] = caller
        if (refusal := _unusable(scope)) is not None:
            await problems.answer(refusal, scope)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope, access: Access) -> Caller | None:
        """Nobody, where anybody may come."""
        wanted = need(scope["method"], path_of(scope))
        if wanted is None:
            return None
        caller = await access.authenticate(key_in(scope["headers"]))
        if wanted not in caller.scopes:
            raise ScopeMissing(f"This API key lacks the scope `{wanted}`.")
        if self._rates is not None and caller.key_id is not None:
            self._rates.take(caller.key_id)
        return caller


def _unusable(scope: Scope) -> RunyardError | None:
    """Why this address can name nothing: no stored id or name contains NUL or U+FDD0, and Postgres refuses NUL."""
    path: str = scope["path"]
    if clean(path) != path:
        return NotFound()
    return Invalid("A query parameter contains NUL; leave it out.") if b"%00" in scope["query_string"] else None


def key_in(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The key that was sent. Other schemes of Authorization are somebody else's."""
    given = set()
    for name, value in headers:
        if name == b"x-api-key":
            given.add(value.strip())
        elif name == b"authorization":
            scheme, *rest = value.split(None, 1)[:2] or [b""]
            if scheme.lower() == b"bearer" and rest:
                given.add(rest[0].strip())
    given.discard(b"")
    if len(given) > 1:
        raise BadRequest("Two different API keys were sent; send one.")
    return given.pop().decode("latin-1") if given else None


async def owner_of(request: Request) -> str:
    """Async, though it waits for nothing: FastAPI would send a plain function to a thread."""
    caller: Caller = request.scope[CALLER]
    return caller.owner


async def operates(request: Request) -> bool:
    """Return whether the caller's key has the scope `operate`."""
    caller: Caller = request.scope[CALLER]
    return "operate" in caller.scopes


Owner = Annotated[str, Depends(owner_of)]
Operates = Annotated[bool, Depends(operates)]
