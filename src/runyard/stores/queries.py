"""Named SQL statements. Each is in `sql/<dialect>/<subject>/` under a `-- name:` line and a sentence about its purpose.

Both dialects have exactly the names of `Queries` (`query_names.py`). `-- fragment:` blocks are column lists;
`{fragment}` includes them.
"""

import re
from functools import cache
from pathlib import Path
from typing import Literal

from runyard.errors import StartupError
from runyard.stores.query_names import Queries

Dialect = Literal["sqlite", "postgres"]
FOLDER = Path(__file__).parent / "sql"
SCHEMA, HOT_PATH = "schema.sql", ("log/append.sql", "queue/accept.sql")
_BLOCK = re.compile(r"^-- (name|fragment): (\w+)\n(.*?)(?=^-- (?:name|fragment):|\Z)", re.M | re.S)


def parse(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the statements and the fragments of a file by name."""
    found: dict[str, dict[str, str]] = {"name": {}, "fragment": {}}
    for kind, name, body in _BLOCK.findall(text):
        if name in found[kind]:
            raise StartupError(f"The SQL {kind} {name} is defined twice.")
        found[kind][name] = "\n".join(line for line in body.strip().splitlines() if not line.startswith("--"))
    return found["name"], found["fragment"]


def statement_files(dialect: Dialect) -> list[Path]:
    """Return the files of all statements, without the schema and the hot path."""
    folder = FOLDER / dialect
    return sorted(set(folder.rglob("*.sql")) - {folder / name for name in (SCHEMA, *HOT_PATH)})


@cache
def load(dialect: Dialect) -> Queries:
    statements, fragments = parse("\n".join(path.read_text() for path in statement_files(dialect)))
    wanted = set(Queries.__struct_fields__)
    if statements.keys() != wanted:
        odd = ", ".join(sorted(statements.keys() ^ wanted))
        raise StartupError(f"The {dialect} statements do not match the list of names: {odd}.")
    for name, sql in statements.items():
        for fragment, columns in fragments.items():
            sql = sql.replace("{" + fragment + "}", columns)
        statements[name] = sql
    return Queries(**statements)


@cache
def hot_path(dialect: Dialect) -> dict[str, str]:
    """Return the statements of the hot path by name."""
    return parse("\n".join(path.read_text() for name in HOT_PATH if (path := FOLDER / dialect / name).exists()))[0]
