"""Pages of docs/ that are made from the code say what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.tables import pages
from scripts.tables.page import Page
from scripts.tables.pages import PAGES, main


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.path.name))
def test_a_page_is_what_the_code_makes_of_it(page: Page) -> None:
    assert page.is_current, "run 'make docs'"


def test_every_page_that_says_it_is_made_is_among_them() -> None:
    docs = PAGES[0].path.parent
    made = {page.name for page in docs.glob("*.md") if "`make docs`" in page.read_text(encoding="utf-8")}
    assert made <= {page.path.name for page in PAGES} | {"requirements.md"}


def test_a_stale_page_is_found_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some = PAGES[:2]  # all are made by the same few lines, and most take long
    monkeypatch.setattr(pages, "PAGES", some)
    for page in some:
        copy = tmp_path / page.path.name
        copy.write_text(page.text.replace("|---", "|-"), "utf-8")
        monkeypatch.setattr(page, "path", copy)
    assert main(["--check"]) == 1
    assert capsys.readouterr().err.count("is stale") == len(some)
    assert main([]) == 0
    assert main(["--check"]) == 0
