"""Files in MCP: content of results, resources, and arguments of tool calls.

A result holds small files: images and audio as such, others as embedded resources. Larger ones are links, which
`resources/read` reads. MCP has no files in the arguments of a tool, so the tools take addresses: data URIs, and the
addresses of resources.
"""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from runyard.domain.content.parts import File
from runyard.engine.engine import Engine
from runyard.engine.intake.content import FileReference, NewPart
from runyard.engine.intake.inline_files import given_file, new_parts
from runyard.errors import NotFound, RunyardError
from runyard.faces.mcp import wire
from runyard.faces.mcp.wire import ProtocolError

Shown = dict[str, Any]
SCHEME = "runyard://files/"
RESOURCE = re.compile(re.escape(SCHEME) + r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
INLINE_BYTES = 256 * 1024  # of all files that a result holds: clients refuse long events
READ_BYTES = 8 * 1024 * 1024  # of a file that `resources/read` returns
MOST = 10  # files of a tool call
TOO_LARGE = "The file is too large for a message of MCP. Download it from /api/files/{id} with the same key."
TEMPLATE = {
    "uriTemplate": f"{SCHEME}{{file_id}}",
    "name": "file",
    "description": "A file that an agent returned. Results link to them.",
}


def address(file_id: str) -> str:
    return SCHEME + file_id


def block(file: File, data: bytes | None, *, links: bool) -> Shown:
    """Return a file as content of a result: with its bytes, or as a link."""
    if data is None:
        if not links:
            return {"type": "text", "text": f"The file {file.name}: {address(file.id)}"}
        shown = {"uri": address(file.id), "name": file.name, "mimeType": file.type, "size": file.size}
        return {"type": "resource_link", **shown}
    kind = file.type.partition("/")[0]
    if kind == "image" or (kind == "audio" and links):
        return {"type": kind, "data": b64encode(data).decode(), "mimeType": file.type}
    return {"type": "resource", "resource": contents(file.id, file.type, data)}


def contents(file_id: str, kind: str, data: bytes) -> Shown:
    """Return the contents of a resource: text if the bytes are, otherwise base64."""
    found: Shown = {"uri": address(file_id), "mimeType": kind}
    if kind.startswith("text/") or kind == "application/json":
        with suppress(UnicodeDecodeError):
            return {**found, "text": data.decode()}
    return {**found, "blob": b64encode(data).decode()}


async def load(engine: Engine, owner: str, files: Sequence[File]) -> dict[str, bytes]:
    """Return the bytes of the files that a result can hold. The others become links, and so do files that cannot be
    read now."""
    found, left = dict[str, bytes](), INLINE_BYTES
    for file in files:
        if file.size <= left:
            with suppress(RunyardError):
                found[file.id] = await engine.files.read(owner, file.id)
                left -= file.size
    return found


async def read(engine: Engine, owner: str, params: Mapping[str, Any]) -> list[Shown] | None:
    """Return the contents of a resource, or None if the owner has none with this address. Raises ProtocolError."""
    uri = params.get("uri")
    found = RESOURCE.fullmatch(uri) if isinstance(uri, str) else None
    if found is None:
        return None
    try:
        file = await engine.files.get(owner, found[1])
        if file.size > READ_BYTES:
            raise ProtocolError(wire.INVALID_PARAMS, TOO_LARGE.format(id=file.id))
        return [contents(file.id, file.type, await engine.files.read(owner, file.id))]
    except NotFound:
        return None


async def stored(engine: Engine, owner: str, message: str, given: Sequence[str]) -> list[NewPart]:
    """Store the files of a call, and return the parts of its message. A call without files has none. Raises the errors
    of an upload."""
    made = []
    for each in given:
        found = RESOURCE.fullmatch(each)
        file = given_file(each, None) if found is None else FileReference(found[1])
        if isinstance(file, FileReference):
            await engine.files.get(owner, file.file_id)
        made.append(file)
    return await new_parts(engine.files, owner, message, made)
