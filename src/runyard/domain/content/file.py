"""Files: content that messages, tool results and outputs refer to by id. The bytes are never part of a log.

A file is a name and a media type for a content. An owner's equal contents are stored once (`digest`), in chunks, so
that no process needs a whole file in memory.
"""

import re
from typing import Literal

from msgspec import Struct

CHUNK_BYTES = 256 * 1024
OBJECT_BYTES = 4 * 1024 * 1024  # of a chunk in an object store
MOST_NAME_CHARS = 200

Place = Literal["database", "objects"]

# Shown by browsers as they are. All other types are offered as a download.
INLINE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}", re.ASCII)
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\]")
_MAGIC: dict[str, tuple[bytes, ...]] = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
    "application/pdf": (b"%PDF-",),
}


class StoredFile(Struct, frozen=True, kw_only=True):
    """A file of an owner. `content_id` names its bytes, which are in the database or in an object store."""

    id: str
    owner: str
    name: str
    type: str
    size: int
    content_id: str
    created_at: int
    place: Place = "database"


class DroppedContent(Struct, frozen=True):
    """Bytes in an object store that no file has. They are deleted there, then forgotten."""

    id: str


def media_type(given: str) -> str | None:
    """Return the media type of a Content-Type header without its parameters, or None if it is not one."""
    found = given.partition(";")[0].strip().lower()
    return found if _TYPE.fullmatch(found) else None


def is_allowed(kind: str, patterns: str) -> bool:
    """Tell whether a comma-separated list such as `image/*,application/pdf` names this type."""
    wanted = [each.strip().lower() for each in patterns.split(",")]
    return "*/*" in wanted or kind in wanted or f"{kind.partition('/')[0]}/*" in wanted


def fits(kind: str, beginning: bytes) -> bool:
    """Tell whether bytes can be the beginning of a file of this type. Types without a known mark always fit."""
    marks = _MAGIC.get(kind)
    if marks is None:
        return True
    return beginning.startswith(marks) and (kind != "image/webp" or beginning[8:12] == b"WEBP")


def file_name(given: str) -> str:
    """Return a name without path separators and control characters, of limited length."""
    return _UNSAFE.sub("_", given).strip()[:MOST_NAME_CHARS] or "file"
