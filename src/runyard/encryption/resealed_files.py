"""Change of keys for checkpoints that are files; `stores/rotation.py` does the same for the database.

A file is replaced as a whole, and only if it is unchanged since it was read.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runyard.base.private_files import write_whole
from runyard.encryption.sealed_files import SEALED, open_file, place_of, seal_file
from runyard.errors import Unreadable

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing


def reseal(folders: Sequence[Path], ring: "KeyRing", decrypt: bool) -> tuple[int, int]:
    """Reseal (or unseal) all files. Return how many were rewritten, and how many do not open."""
    done = unreadable = 0
    ring = ring.accepting_plain()
    for file in [file for folder in folders for file in _files(folder)]:
        kept = file.read_bytes()
        if kept.startswith(SEALED if decrypt else ring.writer.head) != decrypt:
            continue
        try:
            plain = open_file(ring, kept, file.stem, place_of(file))
        except Unreadable:
            unreadable += 1
            continue
        if file.exists() and file.read_bytes() == kept:
            write_whole(file, plain if decrypt else seal_file(ring, plain, file.stem, place_of(file)))
            done += 1
    return done, unreadable


def _files(folder: Path) -> Iterator[Path]:
    """Yield interactions and copies that could not be saved; not `chat.json`, which has no content."""
    if folder.exists():
        yield from sorted(folder.glob("chats/*/interactions/*.json"))
        yield from sorted(folder.glob("owners/*/chats/*/interactions/*.json"))
        yield from sorted(folder.glob("int_*.json"))
