"""Write the table of scopes in docs/access.md: what each is for and which routes need it, from the code.

python -m scripts.scopes_table            write the table
python -m scripts.scopes_table --check    exit 1 when the table is stale
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from runyard.domain.api_key import SCOPES
from runyard.web.auth import NEEDS, OPEN

DOCUMENT = Path(__file__).parents[1] / "docs" / "access.md"
_PLACE = re.compile(r"(?<=do not edit from here -->\n).*(?=<!-- to here -->)", re.DOTALL)
_USUAL = {"read": "every other GET", "write": "everything else"}


def render() -> str:
    """The table."""
    rows = ["| scope | what it is for | needed by |", "|---|---|---|"]
    for scope, what in SCOPES.items():
        routes = [f"`{method} {path}`" for (method, path), needed in NEEDS.items() if needed == scope]
        rows.append(f"| `{scope}` | {what} | {', '.join([*routes, *filter(None, [_USUAL.get(scope)])])} |")
    rows.append(f"| none | anybody may | {', '.join(f'`GET {path}`' for path in OPEN)} |")
    return "\n" + "\n".join(rows) + "\n\n"


def renewed(text: str) -> str:
    """The page with the table in its place."""
    return _PLACE.sub(lambda _: render(), text)


def is_current() -> bool:
    text = DOCUMENT.read_text(encoding="utf-8")
    return _PLACE.search(text) is not None and renewed(text) == text


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the table of scopes in docs/access.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the table is stale")
    if not parser.parse_args(arguments).check:
        DOCUMENT.write_text(renewed(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    if is_current():
        return 0
    print("scopes: docs/access.md is stale: run 'python -m scripts.scopes_table' and commit it.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
