"""docs/README.md leads to every page of docs."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
# Folders with an own index, and pictures and data that pages show.
LISTED_AS_FOLDERS = {"adr", "clients", "frameworks"}


def linked(text: str) -> set[str]:
    return {target.strip("/").partition("/")[0] for target in re.findall(r"\]\(([\w./-]+)\)", text)}


def test_the_index_links_to_every_page_and_folder_of_docs() -> None:
    links = linked((DOCS / "README.md").read_text("utf-8"))
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert sorted((pages | LISTED_AS_FOLDERS) - links) == []


def test_the_index_is_read_by_its_links() -> None:
    assert linked("[a](a.md), [b](b/) and [c](c/README.md)") == {"a.md", "b", "c"}
