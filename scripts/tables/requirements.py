"""Write docs/requirements.md: every requirement line, the tests that name it, and whether it is covered.

The lines are data (docs/requirements/lines.txt). The tests are read, not imported: a line is covered by a test function
whose decorators, class or module carry `pytest.mark.req("S0.17", ...)`. Whether those tests
pass is not this script's job. Where the tests prove less than the line says, an indented line below it says so:
`  open: reason` (not done yet) or `  partly: reason` (the reason names the missing part).

    python -m scripts.tables.requirements            write the table
    python -m scripts.tables.requirements --check    exit 1 when the table is stale or a test names an unknown line
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.tables.test_marks import MarkError, tests_by_mark

ROOT = Path(__file__).parents[2]
LINES = Path("docs/requirements/lines.txt")
TABLE = Path("docs/requirements.md")

_LINE = re.compile(r"(S\d+\.\d+) \(([MIFN])\) (.+)")
_LIMIT = re.compile(r"  (open|partly): (\S.+)")
_HEADER = """# Requirements and the tests that prove them

Made by `make docs` from `{lines}` and the `req` markers of the tests; do not edit.
Marks: (M) must, (I) implied, (F) future or optional, (N) not a goal of the first milestone.
Status: covered (the tests prove the line), partly (the missing part is named), open (not done), planned (no test).
"""


class RequirementsError(Exception):
    """An error that a person has to fix; the message is one sentence."""


@dataclass(frozen=True)
class Line:
    id: str
    mark: str
    text: str
    seed: str
    limit: str = ""  # "open" or "partly", if the tests prove less than the text
    reason: str = ""


def read_lines(root: Path = ROOT) -> list[Line]:
    """Every requirement line, in order."""
    lines: list[Line] = []
    seed = ""
    for number, raw in enumerate((root / LINES).read_text(encoding="utf-8").splitlines(), 1):
        if raw.startswith("## "):
            seed = raw.removeprefix("## ")
        elif raw.startswith(" "):
            lines[-1:] = [_limited(lines[-1:], raw, number)]
        elif raw and not raw.startswith("#"):
            match = _LINE.fullmatch(raw)
            if match is None:
                raise RequirementsError(f"{LINES}:{number} is not of the form 'S0.1 (M) text'.")
            lines.append(Line(match[1], match[2], match[3], seed))
    return lines


def _limited(line: list[Line], raw: str, number: int) -> Line:
    match = _LIMIT.fullmatch(raw)
    if match is None or not line or line[0].limit:
        raise RequirementsError(f"{LINES}:{number} is not '  open: reason' or '  partly: reason' below a line.")
    return replace(line[0], limit=match[1], reason=match[2])


def read_tests(root: Path = ROOT) -> dict[str, list[str]]:
    """Which tests name which line: id -> ["tests/...::test_...", ...], sorted."""
    return tests_by_mark(root, "req", str, "line ids written out, such as 'S0.17'")


def unknown_lines(lines: Iterable[Line], tests: Mapping[str, list[str]]) -> list[str]:
    """Return one sentence for each line that a test names and the list does not have."""
    known = {line.id for line in lines}
    return [
        f"{', '.join(where)} names {name}, which is no line of {LINES}."
        for name, where in tests.items()
        if name not in known
    ]


def unproved_parts(lines: Iterable[Line], tests: Mapping[str, list[str]]) -> list[str]:
    """One sentence for each line that is called partly covered and has no test."""
    return [
        f"{line.id} is called partly covered and no test names it."
        for line in lines
        if line.limit == "partly" and line.id not in tests
    ]


def render(lines: Iterable[Line], tests: Mapping[str, list[str]]) -> str:
    """The whole of docs/requirements.md."""
    lines = list(lines)
    counts = Counter(_status(line, tests.get(line.id, [])) for line in lines)
    total = (
        f"{counts['covered']} of {len(lines)} lines are covered, {counts['partly']} partly; {counts['open']} are open."
    )
    parts = [_HEADER.format(lines=LINES.as_posix()), total]
    for seed in dict.fromkeys(line.seed for line in lines):
        parts.append(f"\n## {seed}\n\n| line | | text | tests | status |\n|---|---|---|---|---|")
        parts.extend(_row(line, tests.get(line.id, [])) for line in lines if line.seed == seed)
    return "\n".join(parts) + "\n"


def _row(line: Line, tests: list[str]) -> str:
    text = line.text.replace("|", "\\|")
    names = "<br>".join(f"`{test}`" for test in tests)
    status = _status(line, tests) + (f": {line.reason}".replace("|", "\\|") if line.limit else "")
    return f"| {line.id} | {line.mark} | {text} | {names} | {status} |"


def _status(line: Line, tests: list[str]) -> str:
    return line.limit or ("covered" if tests else "planned")


def problems(root: Path = ROOT) -> list[str]:
    """Return one sentence for each problem of the table."""
    lines, tests = read_lines(root), read_tests(root)
    wrong = [*unknown_lines(lines, tests), *unproved_parts(lines, tests)]
    table = root / TABLE
    if not table.exists() or table.read_text(encoding="utf-8") != render(lines, tests):
        wrong.append(f"{TABLE.as_posix()} is stale: run 'make docs' and commit it.")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write docs/requirements.md from the req markers of the tests.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the table is stale")
    options = parser.parse_args(arguments)
    try:
        if not options.check:
            (ROOT / TABLE).write_text(render(read_lines(), read_tests()), encoding="utf-8")
        wrong = problems()
    except (MarkError, RequirementsError) as error:
        wrong = [str(error)]
    for sentence in wrong:
        print(f"requirements: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
