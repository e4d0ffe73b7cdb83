"""Write docs/invariants.md: every invariant of ARCHITECTURE.md and the tests that prove it.

A test names the invariants that it proves: `@pytest.mark.invariant(4)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from scripts.tables.page import Page
from scripts.tables.test_marks import tests_by_mark

ROOT = Path(__file__).parents[2]
_SECTION = re.compile(r"^## Invariants\n(.*?)^## ", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(\d+)\. (.+(?:\n {3}.+)*)", re.MULTILINE)
_HEADER = """# Invariants and the tests that prove them

Made by `make docs` from [ARCHITECTURE.md](../ARCHITECTURE.md) and the `invariant` markers of the tests; do not edit.

The table lists the tests that are about one invariant. After its faults, every scenario in `tests/flow/` and every
chaos run also checks the database, the logs and the clients (`tests/support/checker/invariants.py`).
"""


def read_invariants(root: Path = ROOT) -> dict[int, str]:
    """Return the text of each invariant by its number."""
    section = _SECTION.search((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    assert section, "ARCHITECTURE.md has no section 'Invariants'"
    return {int(number): " ".join(text.split()) for number, text in _ENTRY.findall(section[1])}


def read_tests(root: Path = ROOT) -> dict[int, list[str]]:
    """Return the tests of each invariant by its number."""
    return tests_by_mark(root, "invariant", int, "numbers written out, such as 4")


def problems(invariants: Mapping[int, str], tests: Mapping[int, list[str]]) -> list[str]:
    """Return one sentence for each invariant without a test and for each mark with an unknown number."""
    unproved = [
        f"Invariant {number} has no test; mark one with @pytest.mark.invariant({number})."
        for number in invariants
        if number not in tests
    ]
    unknown = [
        f"{', '.join(where)} names invariant {number}, which ARCHITECTURE.md does not have."
        for number, where in sorted(tests.items())
        if number not in invariants
    ]
    return unproved + unknown


def render(invariants: Mapping[int, str], tests: Mapping[int, list[str]]) -> str:
    """Return the whole page."""
    rows = ["| number | invariant | tests |", "|---|---|---|"]
    for number, text in invariants.items():
        names = "<br>".join(f"`{test}`" for test in tests.get(number, []))
        rows.append(f"| {number} | {text.replace('|', chr(92) + '|')} | {names} |")
    return _HEADER + "\n" + "\n".join(rows) + "\n"


PAGE = Page("invariants.md", lambda _: render(read_invariants(), read_tests()))
