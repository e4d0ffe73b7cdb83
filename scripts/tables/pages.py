"""Write the pages of docs/ that are made from the code and the tests.

python -m scripts.tables.pages            write them
python -m scripts.tables.pages --check    write nothing; exit 1 when one is stale
"""

from __future__ import annotations

import argparse
import sys

from scripts.api import api_doc
from scripts.tables import (
    cli_table,
    contract_doc,
    events_table,
    invariants_table,
    log_actions_table,
    metrics_table,
    routes_table,
    scopes_table,
    settings_table,
)

PAGES = [
    module.PAGE
    for module in (
        settings_table,
        events_table,
        routes_table,
        scopes_table,
        metrics_table,
        log_actions_table,
        cli_table,
        contract_doc,
        api_doc,
        invariants_table,
    )
]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the pages of docs/ that are made from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is stale")
    only_check = parser.parse_args(arguments).check
    stale = 0
    for page in PAGES:
        if not only_check:
            page.write()
        if not page.is_current:
            print(f"docs/{page.path.name} is stale: run 'make docs' and commit it.", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
