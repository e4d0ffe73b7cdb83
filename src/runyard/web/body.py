"""Request bodies: limited in size before they are read, and parsed by one strict parser."""

from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.base.fields import UNKNOWN, hint
from runyard.errors import BadRequest, Invalid, TooLarge
from runyard.web.errors.problems import answer, path_of

M = TypeVar("M", bound=BaseModel)


UPLOAD = "/api/files"  # its POST has its own limits
MOST_LEVELS = 400  # of nesting: an accepted value must be encoded again, perhaps from deeper in the stack
TOO_DEEP = f"The body is nested more than {MOST_LEVELS} levels deep. Flatten it."


def decoded(body: bytes) -> Any:
    """Decode JSON. Raise NotJson for invalid JSON or UTF-8, lone surrogates and values nested too deep."""
    try:
        value = msgspec.json.decode(body)
    except RecursionError:
        raise NotJson(TOO_DEEP) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotJson from None
    if body.count(b"[") + body.count(b"{") > MOST_LEVELS and _is_too_deep(value):
        raise NotJson(TOO_DEEP)
    return value


def _is_too_deep(value: Any) -> bool:
    """Tell whether a value is nested too deep, one level at a time; recursion could exhaust the stack."""
    level = [value]
    for _ in range(MOST_LEVELS):
        inside = [each for each in level if each and isinstance(each, list | dict)]
        if not inside:
            return False
        level = [item for each in inside for item in (each.values() if isinstance(each, dict) else each)]
    return any(isinstance(each, list | dict) for each in level)


async def read(request: Request, model: type[M], *, or_text: bool = False) -> M:
    """Read and validate the body of a request to a fast route, with the rules of FastAPI routes. `or_text`: JSON that
    is declared as text, or not declared, is accepted too. A server without keys refuses foreign pages by their origin
    (`loopback.py`); a page cannot add a key to such a request."""
    given = decoded(await request.body())
    if not or_text or _type_of(request) not in ("text/plain", ""):
        refuse_other_types(request)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError([e | {"loc": ("body", *e["loc"])} for e in error.errors()]) from None


def _type_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_json(request: Request) -> bool:
    declared = _type_of(request)
    return declared == "application/json" or (declared.startswith("application/") and declared.endswith("+json"))


def refuse_other_types(request: Request) -> None:
    """Raise NotDeclared if the content type is not JSON: pages of other sites can send such requests."""
    if not _is_json(request):
        raise NotDeclared


class StrictRequest(Request):
    """A request whose body is decoded once, by the strict parser."""

    async def json(self) -> Any:
        if not hasattr(self, "_decoded"):
            self._decoded = decoded(await self.body())
        return self._decoded


class NotJson(BadRequest):
    """The body is not valid JSON in UTF-8."""

    code = "not_json"


class NotDeclared(Invalid):
    """The body is not declared as JSON. Send the header `Content-Type: application/json`."""

    code = "not_declared_json"


class StrictRoute(APIRoute):
    """A route that refuses invalid bodies, unknown fields and unknown query parameters."""

    refuses_query = True

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        parameters = frozenset(parameter.alias for parameter in self.dependant.query_params)
        takes_body = self.body_field is not None
        refuses_query = self.refuses_query or bool(parameters)

        async def strict(request: Request) -> Response:
            request = StrictRequest(request.scope, request.receive)
            if await request.body():
                given = await request.json()
                if not takes_body:
                    refuse_fields(given)
                else:
                    refuse_other_types(request)
            if refuses_query and request.scope["query_string"]:
                refuse_other_parameters(request.query_params, parameters)
            return await handle(request)

        return strict


class OpenRoute(StrictRoute):
    """A route that ignores query parameters if it has none: a probe, a proxy or a client of another protocol may add
    some."""

    refuses_query = False


def refuse_fields(given: Any) -> None:
    """Refuse fields in the body of a route that has none; an empty object is accepted."""
    if isinstance(given, dict) and given:
        raise _unknown(("body",), hint(given, ()))


def refuse_other_parameters(given: Iterable[str], known: Collection[str]) -> None:
    if unknown := [name for name in given if name not in known]:
        raise _unknown(("query",), hint(unknown, known))


def _unknown(where: tuple[str, ...], what: str) -> RequestValidationError:
    return RequestValidationError([{"type": UNKNOWN, "loc": where, "msg": what}])


class BodyLimit:
    """Refuses bodies over the limit, by their declared length or as soon as they exceed it. `uploads` are the paths
    whose POST has another limit."""

    def __init__(self, app: ASGIApp, limit: int, uploads: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._limit = limit
        self._uploads = uploads or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length", b"0")
        limit = self._uploads.get(path_of(scope), self._limit) if scope["method"] == "POST" else self._limit
        if not declared.isdigit() or int(declared) > limit:
            await self._refuse(limit, scope, receive, send)
            return
        if b"content-length" in headers and b"transfer-encoding" not in headers:
            await self._app(scope, receive, send)  # the parser reads no more than the declared length
            return
        try:
            await self._app(scope, self._counted(receive, limit), send)
        except BodyTooLarge:
            await self._refuse(limit, scope, receive, send)

    def _counted(self, receive: Receive, limit: int) -> Receive:
        left = limit

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise BodyTooLarge
            return message

        return counted

    async def _refuse(self, limit: int, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = TooLarge(f"The body is too large. The limit is {limit} bytes.")
        await answer(refusal, scope)(scope, receive, send)


class BodyTooLarge(BaseException):
    """The body exceeds the limit. A BaseException, so that no handler of ordinary errors catches it."""
