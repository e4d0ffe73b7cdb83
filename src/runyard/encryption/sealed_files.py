"""Files that hold what was said: sealed when there is a key, and bound to the name they have."""

from pathlib import Path
from typing import TYPE_CHECKING

from runyard.errors import Unreadable

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing

SEALED = b"\xff\x01"  # what no JSON begins with
SPARE = "spare"


def sealed(ring: "KeyRing | None", data: bytes, name: str, place: str) -> bytes:
    return data if ring is None else ring.seal(data, name, f"file {place}")


def opened(ring: "KeyRing | None", data: bytes, name: str, place: str) -> bytes:
    if ring is not None:
        return ring.open(data, name, f"file {place}")
    if data.startswith(SEALED):
        raise Unreadable("A file was sealed, and this process has no key.")
    return data


def place_of(file: Path) -> str:
    """Where a file is that was sealed: the chat of an interaction, or the copies that could not be saved."""
    return file.parent.parent.name if file.parent.name == "interactions" else SPARE
