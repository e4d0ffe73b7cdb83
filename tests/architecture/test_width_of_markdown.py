"""Text of Markdown files has at most 120 columns. Tables, code, pictures and generated parts may be wider."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDTH = 120
GENERATED_PAGE = "Made by `make docs`"
BEGIN = re.compile(r"<!-- (?:made by |bench:)")
END = re.compile(r"<!-- (?:to here|/bench:)")


def wide_lines(text: str) -> list[int]:
    """Return the numbers of the lines that are too long."""
    is_code, is_generated, found = False, GENERATED_PAGE in text[:500], []
    for number, line in enumerate(text.split("\n"), 1):
        if BEGIN.search(line):
            is_generated = True
        elif END.search(line):
            is_generated = False
        is_code ^= line.startswith("```")
        is_free = is_code or is_generated or line.startswith("|") or "<img " in line
        if len(line) > WIDTH and not is_free:
            found.append(number)
    return found


def test_no_line_of_a_hand_written_page_is_too_long() -> None:
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    places = [
        f"{name}:{number}"
        for name in filter(None, names.split("\n"))
        if (ROOT / name).is_file()
        for number in wide_lines((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert places == [], f"wrap the text at {WIDTH} columns"


LONG = "x" * (WIDTH + 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LONG, [1]),
        (f"- {LONG}", [1]),
        (f"```\n{LONG}\n```\n{LONG}", [4]),
        (f"<!-- made by `make docs` -->\n{LONG}\n<!-- to here -->\n{LONG}", [4]),
        (f"<!-- bench:rivals -->\n{LONG}\n<!-- /bench:rivals -->\n{LONG}", [4]),
        (f"| {LONG} |", []),
        (f'<img alt="{LONG}">', []),
        (f"# A page\n\n{GENERATED_PAGE} from the code.\n\n{LONG}", []),
    ],
)
def test_the_rule_sees_long_text_only(text: str, expected: list[int]) -> None:
    assert wide_lines(text) == expected
