"""Messages of JSON-RPC, revisions of MCP and codes of its errors. The names are those of the protocol."""

from typing import Any, Literal

from pydantic import BaseModel, Field, StrictInt, StrictStr

from runyard.base.fields import RequestBody

STATELESS = "2026-07-28"  # every request is independent: no `initialize`, no session
NEWEST_WITH_SESSIONS = "2025-11-25"
WITH_SESSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", NEWEST_WITH_SESSIONS)
WITHOUT_LINKS = ("2024-11-05", "2025-03-26")
WITHOUT_HEADER = "2025-03-26"  # the revision of a request that does not name one
SUPPORTED = [*WITH_SESSIONS, STATELESS]

NOT_JSON = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
INTERNAL = -32603
NO_RESOURCE = -32002
REFUSED = -32000  # by this server; `data.code` says why
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = f"{PREFIX}protocolVersion"
CAPABILITIES_KEY = f"{PREFIX}clientCapabilities"
SERVER_KEY = f"{PREFIX}serverInfo"
TASKS = f"{PREFIX}tasks"
SESSION_HEADER = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"

RequestId = StrictInt | StrictStr


class Message(RequestBody):
    jsonrpc: Literal["2.0"]
    id: RequestId | None = Field(None, description="Of a request, or of the request that this answers.")
    method: str | None = Field(None, max_length=200)
    params: dict[str, Any] | None = None
    result: dict[str, Any] | None = Field(None, description="The answer to a form that the server asked for.")
    error: dict[str, Any] | None = None

    @property
    def is_request(self) -> bool:
        return self.method is not None and self.id is not None

    @property
    def is_notification(self) -> bool:
        return self.method is not None and "id" not in self.model_fields_set

    @property
    def is_response(self) -> bool:
        return self.method is None and self.id is not None and (self.result is not None or self.error is not None)


class RpcErrorData(BaseModel):
    code: int = Field(description="The code of JSON-RPC or MCP.")
    message: str = Field(description="What is wrong and what to do, for people.")
    data: dict[str, Any] | None = Field(None, description="`code` is the error of this server, for programs.")


class RpcError(BaseModel):
    jsonrpc: Literal["2.0"] = "2.0"
    id: RequestId | None = None
    error: RpcErrorData


class ProtocolError(Exception):
    """A message that MCP refuses."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def status(self) -> int:
        """The HTTP status in the stateless revision."""
        return 404 if self.code == UNKNOWN_METHOD else 400
