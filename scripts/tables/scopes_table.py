"""The table of scopes in docs/access.md: what each is for and which routes need it, from the code."""

from __future__ import annotations

import re

from runyard.domain.api_key import SCOPES
from runyard.web.auth import NEEDS, OPEN
from scripts.tables.page import Page

_PLACE = re.compile(r"(?<=do not edit from here -->\n).*(?=<!-- to here -->)", re.DOTALL)
_USUAL = {"read": "every other GET", "write": "everything else"}


def render() -> str:
    """The table."""
    rows = ["| scope | what it is for | needed by |", "|---|---|---|"]
    for scope, what in SCOPES.items():
        routes = [f"`{method} {path}`" for (method, path), needed in NEEDS.items() if needed == scope]
        rows.append(f"| `{scope}` | {what} | {', '.join([*routes, *filter(None, [_USUAL.get(scope)])])} |")
    rows.append(f"| none | no key needed | {', '.join(f'`GET {path}`' for path in OPEN)} |")
    return "\n" + "\n".join(rows) + "\n\n"


def renewed(text: str) -> str:
    """The page with the table in its place."""
    assert _PLACE.search(text), "docs/access.md has no place for the table"
    return _PLACE.sub(lambda _: render(), text)


PAGE = Page("access.md", renewed)
