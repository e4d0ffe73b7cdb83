"""Authenticates requests and checks their scope, before every route, so that no route can forget it.

A key comes in `Authorization: Bearer` or `X-API-Key`, never in the URL, which ends up in logs. GET needs the scope
`read`, other methods `write`; `NEEDS` lists the exceptions. A request is refused before its body is read. Missing,
unknown, wrong, revoked and expired keys all get the same response.
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
from runyard.web.errors import problems
from runyard.web.errors.problems import CALLER, REFUSED, path_of
from runyard.web.limits.rates import Rates

SHARED = "/api/shared"
CARDS = ("/.well-known/agent-card.json", "/a2a/{agent}/.well-known/agent-card.json")
OPEN = (
    "/health",
    "/api/health",
    "/health/ready",
    "/",
    "/assets/{name}",
    "/langgraph/ok",
    SHARED,
    *CARDS,
)  # public routes
NEEDS: dict[tuple[str, str], api_key.Scope] = {
    ("POST", "/api/approvals/{approval_id}"): "approve",
    ("POST", "/api/waits/{wait_id}"): "approve",
    ("POST", "/chats/{chat_id}/interactions/{interaction_id}/approve"): "approve",
    ("POST", "/a2a/{agent}"): "read",  # the method in the body may need more (`faces/a2a/operations.py`)
    ("POST", "/a2a/{agent}/"): "read",
    ("POST", "/a2a/{agent}/tasks/{task_id}:subscribe"): "read",
    ("POST", "/langgraph/assistants"): "read",  # it creates nothing
    ("POST", "/langgraph/assistants/search"): "read",
    ("POST", "/langgraph/assistants/count"): "read",
    ("POST", "/langgraph/assistants/{assistant_id}/versions"): "read",
    ("POST", "/langgraph/threads/search"): "read",
    ("POST", "/langgraph/threads/count"): "read",
    ("POST", "/langgraph/threads/{thread_id}/history"): "read",
    ("POST", "/langgraph/threads/{thread_id}/state/checkpoint"): "read",
    ("POST", "/langgraph/threads/{thread_id}/stream/events"): "read",
    ("POST", "/mcp"): "read",  # the method in the body may need more (`faces/mcp/methods.py`)
    ("GET", "/metrics"): "operate",
    ("GET", "/api/overview"): "operate",
    ("GET", "/api/keys"): "operate",
    ("POST", "/api/keys"): "operate",
    ("DELETE", "/api/keys/{key_id}"): "operate",
}
_SPECIAL: dict[str, list[tuple[Pattern[str], api_key.Scope | None]]] = {}
for (_method, _path), _scope in {**{("GET", path): None for path in OPEN}, **NEEDS}.items():
    # compiled by the router's own function, so that both match the same paths
    _SPECIAL.setdefault(_method, []).append((compile_path(_path)[0], _scope))
POLICY_VIOLATION = 1008


def need(method: str, path: str) -> api_key.Scope | None:
    """Return the scope that a request needs, or None for public routes."""
    method = "GET" if method == "HEAD" else method
    for pattern, scope in _SPECIAL.get(method, ()):
        if pattern.match(path):
            return scope
    return "read" if method in ("GET", "OPTIONS") else "write"


def describe(document: dict[str, Any]) -> None:
    """Add the scope that each operation needs to an OpenAPI document."""
    document.setdefault("components", {})["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            scope = need(method.upper(), path)
            operation["security"] = [] if scope is None else [{"bearer": [scope]}, {"header": [scope]}]


class Guard:
    """Authenticates each request and stores its caller in the scope. Without `access`, requests need no key and all
    belong to one owner."""

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
        """Return the authenticated caller, or None for public routes."""
        wanted = need(scope["method"], path_of(scope))
        if wanted is None:
            if self._rates is not None and path_of(scope) == SHARED:  # it reads the database
                self._rates.take(f"address {(scope.get('client') or ('',))[0]}")
            return None
        caller = await access.authenticate(key_in(scope["headers"]))
        _check(caller, wanted)
        if self._rates is not None and caller.key_id is not None:
            self._rates.take(caller.key_id)
        return caller


def _unusable(scope: Scope) -> RunyardError | None:
    """Return the error for a URL that no object can have: stored ids and names contain no NUL and no U+FDD0."""
    path: str = scope["path"]
    if clean(path) != path:
        return NotFound()
    return Invalid("A query parameter contains NUL. Remove it.") if b"%00" in scope["query_string"] else None


def key_in(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the API key in the headers. Schemes of Authorization other than Bearer are ignored."""
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
        raise BadRequest("The request has two different API keys. Send one.")
    return given.pop().decode("latin-1") if given else None


async def owner_of(request: Request) -> str:
    """Return the owner of the caller's key. Async, because FastAPI runs other functions in a thread."""
    caller: Caller = request.scope[CALLER]
    return caller.owner


def check_scope(request: Request, wanted: api_key.Scope) -> None:
    """Raise ScopeMissing if the caller's key lacks a scope. For routes whose body decides which scope they need."""
    caller: Caller = request.scope[CALLER]
    _check(caller, wanted)


def _check(caller: Caller, wanted: api_key.Scope) -> None:
    if wanted not in caller.scopes:
        raise ScopeMissing(
            f"This API key lacks the scope `{wanted}`. Create one with `runyard keys create --scope {wanted}`."
        )


async def operates(request: Request) -> bool:
    """Return whether the caller's key has the scope `operate`."""
    caller: Caller = request.scope[CALLER]
    return "operate" in caller.scopes


Owner = Annotated[str, Depends(owner_of)]
Operates = Annotated[bool, Depends(operates)]
