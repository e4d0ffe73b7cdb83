"""Files and folders that only the server's user may read: created with mode 0600 and 0700, written and removed as a
whole.

`remove_tree` uses no recursion and no long paths, so it removes trees of any depth. It follows no links.
"""

import os
import secrets
from pathlib import Path
from typing import BinaryIO

from runyard.base.ids import new_id

FILE_MODE = 0o600
FOLDER_MODE = 0o700
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def make_folder(path: Path) -> None:
    """Make a folder and every missing parent with mode 0700. Folders that exist keep their mode."""
    missing: list[Path] = []
    here = path
    while not here.exists():
        missing.append(here)
        here = here.parent
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file with mode 0600, unless it exists."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, FILE_MODE))


def new_file(path: Path) -> BinaryIO:
    """Open a new file with mode 0600 for writing, in place of what has its name."""
    path.unlink(missing_ok=True)
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "wb")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically: write a draft beside it, flush it to the disk, and rename it."""
    make_folder(path.parent)
    draft = path.with_name(f".{path.name}.{new_id()}")
    try:
        with new_file(draft) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def remove_tree(path: Path) -> None:
    """Remove a file, a link or a folder with everything in it; do nothing if there is none.

    Each folder gives its own folders to the root, then goes: two open folders at a time, whatever the depth. Raises
    OSError if something cannot be removed. Call it when no process changes the tree any more."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
        return
    try:
        path.chmod(FOLDER_MODE)
        root = os.open(path, _FOLDER)
    except FileNotFoundError:
        return
    try:
        mark, moved = secrets.token_hex(8), 0
        while folders := _emptied(root):
            for name in folders:
                inner = os.open(name, _FOLDER, dir_fd=root)
                try:
                    for below in _emptied(inner):
                        moved += 1
                        os.rename(below, f"{mark}.{moved}", src_dir_fd=inner, dst_dir_fd=root)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=root)
    finally:
        os.close(root)
    path.rmdir()


def _emptied(folder: int) -> list[str]:
    """Unlink everything in a folder except its folders. Make those accessible and return their names."""
    folders = []
    with os.scandir(folder) as found:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
    for name, is_folder in entries:
        if is_folder:
            os.chmod(name, FOLDER_MODE, dir_fd=folder)
            folders.append(name)
        else:
            os.unlink(name, dir_fd=folder)
    return folders
