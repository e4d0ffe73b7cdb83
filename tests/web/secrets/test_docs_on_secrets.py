"""docs/encryption.md says of every column whether it is sealed, and the examples of docs/redaction.md run."""

import re
import tomllib
from pathlib import Path

from runyard.domain.redaction.redactor import Redactor
from runyard.domain.redaction.sensitive import PATTERNS
from runyard.stores.queries import FOLDER
from tests.web.secrets.test_content_is_sealed_at_rest import CONTENT

DOCS = Path(__file__).parents[3] / "docs"
ENCRYPTION = (DOCS / "encryption.md").read_text(encoding="utf-8")
REDACTION = (DOCS / "redaction.md").read_text(encoding="utf-8")


def columns(dialect: str, kinds: str) -> set[str]:
    """`table.column` of the schema, for columns that can hold a text."""
    schema = (FOLDER / dialect / "schema.sql").read_text(encoding="utf-8")
    tables = re.findall(r"create table (\w+) \(\n(.*?)^\)", schema, re.MULTILINE | re.DOTALL)
    return {
        f"{table}.{name}"
        for table, body in tables
        for name in re.findall(rf"^  (\w+) +(?:{kinds})\b", body, re.MULTILINE)
    }


def documented(answer: str) -> set[str]:
    """The columns of the table; a name without a table belongs to the table before it."""
    found, table = set(), ""
    for names in re.findall(rf"^\| (`.*?`) \| {answer} \|", ENCRYPTION, re.MULTILINE):
        for given, name in re.findall(r"`(?:(\w+)\.)?(\w+)`", names):
            table = given or table
            found.add(f"{table}.{name}")
    return found


def test_every_column_that_can_hold_text_is_in_the_table() -> None:
    not_written_there = {"run_snapshots.data", "steered_messages.data"}  # of long runs, and of runs under way
    assert documented("yes") == CONTENT | not_written_there
    assert documented("yes") | documented("no") == columns("postgres", "text|bytea|uuid|tsvector")


def test_both_databases_have_the_same_columns_for_content() -> None:
    assert columns("sqlite", "text|blob") >= CONTENT - {"passages.words"}  # there it is a separate table


def test_the_examples_of_redaction_run() -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", REDACTION, re.MULTILINE | re.DOTALL)
    exec(compile(code, "docs/redaction.md", "exec", dont_inherit=True), {})
    [toml] = re.findall(r"^```toml\n(.*?)^```$", REDACTION, re.MULTILINE | re.DOTALL)
    settings = tomllib.loads(toml)
    redactor = Redactor([name.strip() for name in settings["redact"].split(",")], settings["redact_patterns"])
    assert redactor.text("ACME-1 for Patient No. 12, a@b.co") == "[ticket] for [patient], [email]"


def test_every_name_is_in_the_table() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", REDACTION, re.MULTILINE)) == set(PATTERNS)
