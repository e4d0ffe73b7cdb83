"""Request bodies: bounded before they are read, parsed by one strict parser, whatever the client sends."""

from collections.abc import Callable, Collection, Coroutine, Iterable
from typing import Any, TypeVar

import msgspec
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.errors import BadRequest, Invalid, TooLarge
from runyard.fields import UNKNOWN, hint
from runyard.web.problems import answer

M = TypeVar("M", bound=BaseModel)


MOST_LEVELS = 400  # of nesting: what is accepted must be encoded again, perhaps from deeper in the stack
TOO_DEEP = f"The body is nested more than {MOST_LEVELS} levels deep."


def decoded(body: bytes) -> Any:
    """No broken UTF-8, no lone surrogates, no nesting without end."""
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
    """Look at one level of nesting after the other; the parser has already refused what it cannot hold."""
    level = [value]
    for _ in range(MOST_LEVELS):
        inside = [each for each in level if each and isinstance(each, list | dict)]
        if not inside:
            return False
        level = [item for each in inside for item in (each.values() if isinstance(each, dict) else each)]
    return any(isinstance(each, list | dict) for each in level)


async def read(request: Request, model: type[M]) -> M:
    """The body of a request to a plain route, as FastAPI would read it: only what is declared to be JSON is."""
    given = decoded(await request.body())
    refuse_other_types(request)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError([e | {"loc": ("body", *e["loc"])} for e in error.errors()]) from None


def _is_json(request: Request) -> bool:
    declared = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return declared == "application/json" or (declared.startswith("application/") and declared.endswith("+json"))


def refuse_other_types(request: Request) -> None:
    """NotDeclared if the body is not declared to be JSON: pages of other sites can send such requests unasked."""
    if not _is_json(request):
        raise NotDeclared


class StrictRequest(Request):
    """A request whose body is decoded once, strictly."""

    async def json(self) -> Any:
        if not hasattr(self, "_decoded"):
            self._decoded = decoded(await self.body())
        return self._decoded


class NotJson(BadRequest):
    """The body is not valid JSON in UTF-8."""

    code = "not_json"


class NotDeclared(Invalid):
    """The body is not declared to be JSON; send the header `Content-Type: application/json`."""

    code = "not_declared_json"


class StrictRoute(APIRoute):
    """A route that refuses a body it cannot read, and fields and query parameters it does not have."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        parameters = frozenset(parameter.alias for parameter in self.dependant.query_params)
        takes_body = self.body_field is not None

        async def strict(request: Request) -> Response:
            request = StrictRequest(request.scope, request.receive)
            if await request.body():
                given = await request.json()
                if not takes_body:
                    refuse_fields(given)
                else:
                    refuse_other_types(request)
            if parameters:  # a route without any, such as /health, takes what a proxy may add
                _refuse_others(request.query_params, parameters)
            return await handle(request)

        return strict


def refuse_fields(given: Any) -> None:
    """Refuse the fields of a body that was sent to a route without any; an empty object is accepted."""
    if isinstance(given, dict) and given:
        raise _unknown(("body",), hint(given, ()))


def _refuse_others(given: Iterable[str], known: Collection[str]) -> None:
    if unknown := [name for name in given if name not in known]:
        raise _unknown(("query",), hint(unknown, known))


def _unknown(where: tuple[str, ...], what: str) -> RequestValidationError:
    return RequestValidationError([{"type": UNKNOWN, "loc": where, "msg": what}])


class BodyLimit:
    """Refuses bodies over the limit, by their declared length or as soon as they pass it."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > self._limit:
            await self._refuse(scope, receive, send)
            return
        try:
            await self._app(scope, self._counted(receive), send)
        except BodyTooLarge:
            await self._refuse(scope, receive, send)

    def _counted(self, receive: Receive) -> Receive:
        left = self._limit

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise BodyTooLarge
            return message

        return counted

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = TooLarge(f"The body may have at most {self._limit} bytes.")
        await answer(refusal, scope)(scope, receive, send)


class BodyTooLarge(BaseException):
    """Passes through every handler of ordinary errors."""
