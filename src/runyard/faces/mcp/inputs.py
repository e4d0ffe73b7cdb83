"""Reads what a client sends: its revision, capabilities and tool calls. Pure."""

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from runyard.faces.mcp import wire
from runyard.faces.mcp.files import MOST
from runyard.faces.mcp.wire import ProtocolError

SESSION = re.compile(r"(form|none)-[A-Za-z0-9]{32}")
EVENT_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9]{1,9})")
_BASE64 = re.compile(r"=\?base64\?([A-Za-z0-9+/=]*)\?=")
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
NAMED |= dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId")
NAME_LENGTH = 200


class Client(Struct, frozen=True):
    """The client of a request. `session` is its session, `asks` whether it can show forms, `tasks`
    whether it knows tasks."""

    version: str
    session: str | None = None
    asks: bool = False
    tasks: bool = False

    @property
    def is_stateless(self) -> bool:
        return self.version == wire.STATELESS

    @property
    def links(self) -> bool:
        """Whether it knows links to resources."""
        return self.version not in wire.WITHOUT_LINKS


def can_ask(capabilities: Any) -> bool:
    """Return whether a client can show forms. Without modes, forms are meant."""
    modes = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(modes, dict) and (not modes or "form" in modes)


def session_name(capabilities: Any, secret: str) -> str:
    """Return the id of a new session. It holds what the server must know later, so nothing is stored."""
    return f"{'form' if can_ask(capabilities) else 'none'}-{secret}"


def is_stateless(message: wire.Message, headers: Mapping[str, str]) -> bool:
    """Return whether a message is one of the stateless revision, by its header or its `_meta`."""
    meta = (message.params or {}).get("_meta")
    return headers.get(wire.VERSION_HEADER) == wire.STATELESS or (isinstance(meta, dict) and wire.VERSION_KEY in meta)


def client_of(message: wire.Message, headers: Mapping[str, str]) -> Client | None:
    """Return the client of a message, or None if its session is unknown. Raises ProtocolError."""
    if is_stateless(message, headers):
        return _stateless(message, message.params or {}, headers)
    version = headers.get(wire.VERSION_HEADER)
    if version is not None and version not in wire.WITH_SESSIONS:
        raise unsupported(version)
    session = headers.get(wire.SESSION_HEADER)
    if session is None:
        return Client(version or wire.WITHOUT_HEADER)
    found = SESSION.fullmatch(session)
    return None if found is None else Client(version or wire.WITHOUT_HEADER, session, found[1] == "form")


def unsupported(version: str) -> ProtocolError:
    data = {"supported": wire.SUPPORTED, "requested": version[:NAME_LENGTH]}
    return ProtocolError(wire.UNSUPPORTED_VERSION, "This server does not support that revision of MCP.", data)


def _stateless(message: wire.Message, params: Mapping[str, Any], headers: Mapping[str, str]) -> Client:
    """Check the envelope of a request in the stateless revision: first its `_meta`, then the headers that repeat it."""
    if not message.is_request:
        return Client(wire.STATELESS)
    meta = params.get("_meta")
    known = meta if isinstance(meta, dict) else {}
    if missing := [key for key in (wire.VERSION_KEY, wire.CAPABILITIES_KEY) if key not in known]:
        raise ProtocolError(wire.INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    version = known[wire.VERSION_KEY]
    if not isinstance(version, str) or headers.get(wire.VERSION_HEADER) != version:
        raise _mismatch("MCP-Protocol-Version", wire.VERSION_KEY)
    if headers.get(wire.METHOD_HEADER) != message.method:
        raise _mismatch("Mcp-Method", "method")
    name = NAMED.get(message.method or "")
    if name is not None and params.get(name) is not None and _decoded(headers.get(wire.NAME_HEADER)) != params[name]:
        raise _mismatch("Mcp-Name", f"params.{name}")
    if version != wire.STATELESS:
        raise unsupported(version)
    capabilities = known[wire.CAPABILITIES_KEY]
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    has_tasks = isinstance(extensions, dict) and isinstance(extensions.get(wire.TASKS), dict)
    return Client(version, asks=can_ask(capabilities), tasks=has_tasks)


def _mismatch(header: str, field: str) -> ProtocolError:
    return ProtocolError(wire.HEADER_MISMATCH, f"The header {header} must be there once and equal {field}.")


def _decoded(value: str | None) -> str | None:
    """Return the value of a header, which may be in base64."""
    found = None if value is None else _BASE64.fullmatch(value)
    if found is None:
        return value
    try:
        return base64.b64decode(found[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


class ToolCall(Struct, frozen=True):
    """A tool call. `state` and `responses` are those of a call that is repeated with answers."""

    agent: str
    message: str
    thread: str | None
    token: str | int | None
    state: str | None = None
    responses: dict[str, Any] | None = None
    files: tuple[str, ...] = ()


class Refused(Exception):
    """The tool refuses its arguments. The model that called it gets the reason."""


def tool_call(params: Mapping[str, Any], agents: Collection[str]) -> ToolCall:
    """Read a tool call. Raises ProtocolError, or Refused for invalid arguments."""
    name, given, meta = params.get("name"), params.get("arguments"), params.get("_meta")
    state, responses = params.get("requestState"), params.get("inputResponses")
    if not isinstance(name, str) or not isinstance(given, dict | None):
        raise ProtocolError(wire.INVALID_PARAMS, "`name` must be a text, and `arguments` an object.")
    if name not in agents:
        raise ProtocolError(wire.INVALID_PARAMS, "This server has no tool with that name. `tools/list` lists them.")
    if not isinstance(state, str | None) or not isinstance(responses, dict | None):
        raise ProtocolError(wire.INVALID_PARAMS, "`requestState` must be a text, and `inputResponses` an object.")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if not isinstance(token, str | int) or isinstance(token, bool):
        token = None
    arguments = given or {}
    message, thread = arguments.get("message"), arguments.get("thread_id")
    if not isinstance(message, str) or not message.strip():
        raise Refused("`message` must be a text that is not empty.")
    if thread is not None and (not isinstance(thread, str) or not 1 <= len(thread) <= NAME_LENGTH):
        raise Refused(f"`thread_id` must be a text of 1 to {NAME_LENGTH} characters.")
    files = arguments.get("files") or []
    if not isinstance(files, list) or len(files) > MOST or not all(isinstance(each, str) for each in files):
        raise Refused(f"`files` must be a list of at most {MOST} texts: data URIs, or addresses of resources.")
    if unknown := arguments.keys() - {"message", "thread_id", "files"}:
        raise Refused(f"{len(unknown)} unknown argument(s). The tool takes `message`, `thread_id` and `files`.")
    return ToolCall(name, message, thread, token, state, responses, tuple(files))


def place_of(given: str) -> tuple[str, int] | None:
    """Return the run and the number in an event id or in `requestState`, or None if it is neither."""
    found = EVENT_ID.fullmatch(given)
    return None if found is None else (found[1], int(found[2]))
