"""Files with content: sealed if there is a key, and bound to their names."""

from pathlib import Path
from typing import TYPE_CHECKING

from runyard.errors import Unreadable

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing

SEALED = b"\xff\x01"  # no JSON starts with it
FALLBACK = "spare"  # stored: sealed copies are bound to it


def seal_file(ring: "KeyRing | None", data: bytes, name: str, place: str) -> bytes:
    return data if ring is None else ring.seal(data, name, f"file {place}")


def open_file(ring: "KeyRing | None", data: bytes, name: str, place: str) -> bytes:
    if ring is not None:
        return ring.open(data, name, f"file {place}")
    if data.startswith(SEALED):
        raise Unreadable("A file is encrypted, and this process has no key. Set RUNYARD_ENCRYPTION_KEYS.")
    return data


def place_of(file: Path) -> str:
    """Return the place that a file is bound to: the chat of an interaction, or FALLBACK for copies that could not be
    saved."""
    return file.parent.parent.name if file.parent.name == "interactions" else FALLBACK
