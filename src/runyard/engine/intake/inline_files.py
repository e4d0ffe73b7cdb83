"""Files inside of a request, as some protocols send them: bytes in a data URI, or the id of a file.

The bytes are uploaded before the message is posted, and the message refers to them. If it is not posted, they are
deleted like every file that no message refers to.
"""

import re
from base64 import b64decode
from binascii import Error
from collections.abc import AsyncIterator, Sequence
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from runyard.domain.content.parts import TextPart
from runyard.engine.files import Files
from runyard.engine.intake.content import FileReference, NewPart
from runyard.errors import BadRequest

NO_ADDRESS = (
    "Files are not fetched from addresses. Send a data URI, or the id of a file that you uploaded to /api/files."
)
NO_BYTES = "The data of a file is not base64."
_DATA_URI = re.compile(r"data:([^;,]*)((?:;[^;,]+)*?)(;base64)?,(.*)", re.DOTALL | re.ASCII)
_ADDRESS = re.compile(r"(?:https?://[^/?#]+)?/api/files/([0-9a-f-]{36})", re.ASCII)


class InlineFile(Struct, frozen=True):
    """The name, media type and bytes of a file."""

    name: str
    type: str
    data: bytes


GivenFile = InlineFile | FileReference


def given_file(address: str, name: str | None, kind: str | None = None) -> GivenFile:
    """Read a data URI, or the address of an uploaded file. `kind`: the media type, if the URI does not have it."""
    if found := _ADDRESS.fullmatch(address):
        return FileReference(found[1])
    parts = _DATA_URI.fullmatch(address)
    if parts is None:
        raise BadRequest(NO_ADDRESS)
    media_type, _, is_base64, data = parts.groups()
    return inline_file(data if is_base64 else unquote_to_bytes(data), name, media_type or kind)


def inline_file(data: str | bytes, name: str | None, kind: str | None) -> InlineFile:
    """Return a file of these bytes, or of their base64."""
    kind = kind or "application/octet-stream"
    if isinstance(data, str):
        try:
            data = b64decode(data, validate=True)
        except (Error, ValueError):
            raise BadRequest(NO_BYTES) from None
    return InlineFile(name or kind.partition("/")[0] or "file", kind, data)


async def new_parts(files: Files, owner: str, text: str, given: Sequence[GivenFile]) -> list[NewPart]:
    """Upload the files, and return the parts of a message with them. No files: no parts."""
    if not given:
        return []
    references = [await _stored(files, owner, each) for each in given]
    return [TextPart(text), *references] if text else list(references)


async def _stored(files: Files, owner: str, given: GivenFile) -> FileReference:
    if isinstance(given, FileReference):
        return given

    async def body() -> AsyncIterator[bytes]:
        yield given.data

    return FileReference((await files.upload(owner, given.name, given.type, body())).id)
