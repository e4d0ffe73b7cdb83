"""Errors in the shapes of A2A: an error object of JSON-RPC, or a status of google.rpc for the HTTP+JSON binding.

Errors of the protocol have a reason and a code. Errors of this server (authentication, limits) keep their
HTTP status in both bindings, because clients and proxies act on it.
"""

from typing import Any

from starlette.responses import Response

from runyard.faces.a2a import wire
from runyard.web.errors.problems import Problem, shape
from runyard.web.responses import Json

INFO, INVALID = "type.googleapis.com/google.rpc.ErrorInfo", "type.googleapis.com/google.rpc.BadRequest"
DOMAIN = "a2a-protocol.org"
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
TASK_NOT_FOUND, NOT_CANCELABLE = -32001, -32002
UNSUPPORTED, CONTENT_TYPE, VERSION = -32004, -32005, -32009

# Codes of this server, with the code and the reason that the protocol has for them.
REASONS: dict[str, tuple[int, str]] = {
    "task_not_found": (TASK_NOT_FOUND, "TASK_NOT_FOUND"),
    "gone": (TASK_NOT_FOUND, "TASK_NOT_FOUND"),
    "task_not_cancelable": (NOT_CANCELABLE, "TASK_NOT_CANCELABLE"),
    "unsupported_operation": (UNSUPPORTED, "UNSUPPORTED_OPERATION"),
    "waiting": (UNSUPPORTED, "UNSUPPORTED_OPERATION"),
    "content_type_not_supported": (CONTENT_TYPE, "CONTENT_TYPE_NOT_SUPPORTED"),
    "not_declared_json": (CONTENT_TYPE, "CONTENT_TYPE_NOT_SUPPORTED"),
    "wrong_type": (CONTENT_TYPE, "CONTENT_TYPE_NOT_SUPPORTED"),
    "version_not_supported": (VERSION, "VERSION_NOT_SUPPORTED"),
}
OTHER_CODES = {"not_json": PARSE_ERROR, "not_a_request": INVALID_REQUEST, "method_not_found": METHOD_NOT_FOUND}
OTHER_CODES |= {"agent_not_found": METHOD_NOT_FOUND}
OTHER_REASONS = {PARSE_ERROR: "INVALID_REQUEST", INVALID_REQUEST: "INVALID_REQUEST"}
OTHER_REASONS |= {METHOD_NOT_FOUND: "METHOD_NOT_FOUND", INVALID_PARAMS: "INVALID_PARAMS"}
OF_SERVER = frozenset({401, 403, 405, 413, 429})  # statuses that are not of the protocol, besides 5xx
NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
REST_STATUS = {415: 400, 422: 400}  # of this server, as the protocol has them


def _is_of_server(status: int) -> bool:
    """Whether an error is one of this server, not of the protocol."""
    return status >= 500 or status in OF_SERVER


def _number(status: int, code: str) -> int:
    """Return the code that JSON-RPC has for an error."""
    if code in REASONS:
        return REASONS[code][0]
    if code in OTHER_CODES:
        return OTHER_CODES[code]
    if _is_of_server(status):
        return INTERNAL if status >= 500 else INVALID_REQUEST
    return INVALID_PARAMS


def _details(problem: Problem) -> list[dict[str, Any]]:
    code, status = problem.code, problem.status_code
    if code in REASONS:
        reason, domain = REASONS[code][1], DOMAIN
    elif _is_of_server(status):
        reason, domain = code.upper(), "runyard"
    else:
        reason, domain = OTHER_REASONS[_number(status, code)], DOMAIN
    found: list[dict[str, Any]] = [{"@type": INFO, "reason": reason, "domain": domain, "metadata": {"code": code}}]
    if problem.errors:
        violations = [{"field": where, "description": what} for where, what in problem.errors]
        found.append({"@type": INVALID, "fieldViolations": violations})
    return found


def in_rest_shape(problem: Problem) -> Response:
    """Return a problem as a status of google.rpc."""
    status = 404 if problem.code == "gone" else REST_STATUS.get(problem.status_code, problem.status_code)
    name = "FAILED_PRECONDITION" if status == 400 and problem.code in REASONS else NAMES.get(status, "UNKNOWN")
    error = wire.StatusBody(code=status, status=name, message=problem.sentence, details=_details(problem))
    return Json(wire.RestError(error=error), status, headers=problem.kept_headers)


def in_rpc_shape(problem: Problem, rpc_id: str | int | None = None) -> Response:
    """Return a problem as an error of JSON-RPC. Errors of the protocol have the HTTP status 200, because client
    libraries read no body with another one."""
    status, code = problem.status_code, problem.code
    error = wire.RpcErrorBody(code=_number(status, code), message=problem.sentence, data=_details(problem))
    is_kept = _is_of_server(status) or code == "agent_not_found"
    return Json(wire.RpcError(id=rpc_id, error=error), status if is_kept else 200, headers=problem.kept_headers)


for path in ("/a2a/{agent}", "/a2a/{agent}/"):
    shape(path, in_rpc_shape, "RpcError")
shape("/a2a/", in_rest_shape, "RestError")
