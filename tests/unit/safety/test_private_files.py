"""Files that only the server's user may read; trees that can always be removed."""

import os
from pathlib import Path

import pytest

from runyard.base.private_files import make_file, make_folder, new_file, remove_tree, write_whole

pytestmark = pytest.mark.usefixtures("open_umask")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_files_and_all_new_parents_are_for_their_owner_alone(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b" / "file", b"x")
    make_file(tmp_path / "a" / "other")
    new_file(tmp_path / "a" / "third").close()
    make_folder(tmp_path / "a" / "c" / "d")
    assert {mode(path) for path in (tmp_path / "a").rglob("*") if path.is_file()} == {0o600}
    assert {mode(path) for path in tmp_path.rglob("*") if path.is_dir()} == {0o700}


def deep_tree(root: Path, depth: int) -> None:
    """Folders so deep that no path leads to the innermost."""
    root.mkdir()
    here = os.open(root, os.O_DIRECTORY)
    for _ in range(depth):
        os.mkdir("d" * 100, dir_fd=here)
        inner = os.open("d" * 100, os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("file", os.O_CREAT, dir_fd=here))
    os.close(here)


def test_depth_does_not_stop_the_removal_of_a_tree(tmp_path: Path) -> None:
    deep_tree(tmp_path / "tree", 2000)
    remove_tree(tmp_path / "tree")
    assert list(tmp_path.iterdir()) == []


def test_a_removal_follows_no_link_and_opens_closed_folders(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    tree = tmp_path / "tree"
    (tree / "closed" / "deeper").mkdir(parents=True)
    (tree / "closed" / "deeper" / "link").symlink_to(outside)
    (tree / "link").symlink_to(outside)
    (tree / "closed" / "deeper").chmod(0)
    (tree / "closed").chmod(0)
    remove_tree(tree)
    link = tmp_path / "a link"
    link.symlink_to(outside)
    remove_tree(link)
    remove_tree(tmp_path / "nothing")
    assert [path.name for path in tmp_path.rglob("*")] == ["outside", "kept"]
