"""Errors in the shape of JSON-RPC.

An error that MCP defines is a response like any other. In the stateless revision it has a separate status. A refusal
by this server (key, scope, limit, load) keeps its HTTP status in both, so that clients and proxies understand it.
"""

from typing import Any

from starlette.responses import Response

from runyard.errors import Gone, Invalid, NotFound, RunyardError
from runyard.faces.mcp import wire
from runyard.faces.mcp.wire import ProtocolError
from runyard.web.errors.problems import Problem, shape
from runyard.web.responses import Json

CODES = {400: wire.INVALID_REQUEST, 404: wire.INVALID_PARAMS, 422: wire.INVALID_REQUEST, 500: wire.INTERNAL}


def as_protocol_error(error: RunyardError) -> ProtocolError | None:
    """Return the error of MCP for an id that does not exist or a value that is invalid; None for other refusals."""
    if isinstance(error, NotFound | Gone | Invalid):
        return ProtocolError(wire.INVALID_PARAMS, error.message, {"code": error.code})
    return None


def response(error: ProtocolError, request_id: str | int | None, status: int | None = None) -> Response:
    """Return an error as a response."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return Json({"jsonrpc": "2.0", "id": request_id, "error": body}, status or error.status)


def in_shape(problem: Problem) -> Response:
    """Return a problem as an error of JSON-RPC. The id of the request may be unknown, so it is null."""
    message, data = problem.sentence, {"code": problem.code}
    code = wire.NOT_JSON if problem.code == "not_json" else CODES.get(problem.status_code, wire.REFUSED)
    answer = response(ProtocolError(code, message, data), None, problem.status_code)
    answer.headers.update(problem.kept_headers)
    return answer


shape("/mcp", in_shape, "RpcError")
