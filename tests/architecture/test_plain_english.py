"""Words and codes that no text of the project may use. CONTRIBUTING.md says what to write instead."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A pronoun hides the actor, and these phrases hide the thing. Say client, worker, process, caller, operator or model.
BANNED = re.compile(
    r"(?<![\w`])(?:"
    r"(?i:nobody|somebody|anybody|whoever|anew|one's own|of others|put(?:s|ting)? aside|mend(?:s|ed)?)"
    r"|(?i:yardstick|but for)"
    r"|it all|(?:that|which|and) (?:is|are) none|in turns|of ours"
    r"|(?:is|are|was) told by|got round to|run goes on|(?:is|are) away|(?:end|ends|ended) red"
    r"|under way here|as far as|has told it|(?:is|was) news|no one to tell|the client's doing"
    r")\b(?![`\"])"
)

# "A thread of its own" is a separate thread, or its own thread. A noun may follow: "sessions of its own role".
OWN = re.compile(r"\b(?<!instead )of (?:its|their|your|our) own(?=[.,;:)\"]|$)")

# A relative clause as the subject of a sentence: "What is due is decided by the clock."
RELATIVE_SUBJECT = re.compile(
    r"(?:^|[.:#*-] |\"\"\")What (?:is|are|was|were) [^.?:|`]{1,60}? (?:is|are|was|were|stays|goes)\b"
)

# A docstring names its thing: "The state after an event." It begins with neither a relative clause nor a genitive.
FIRST_WORDS = re.compile(r"\"\"\"(?:What|Who|Whoever|Whatever|Of an?) ")
# The title of a test is a sentence about its thing: "a_failed_run_says_why", not "what_failed_says_why".
FIRST_WORDS_OF_TITLES = re.compile(r"^(?:what|who|whoever|whatever) ")

# Codes of documents outside this repository. Requirement lines (S0.1) are explained in docs/requirements.md.
OUTSIDE_CODES = re.compile(
    r"\bDESIGN\b|\bSTORAGE\b|\bREQUIREMENTS\b \d|\bfault \d+\b|\((?:C|D)\d{1,2}\)|\"\"\"(?:C|D)\d{1,2}\b"
)
# In the name of a test: `test_d3_...`.
CODES_IN_TITLES = re.compile(r"\b[cd]\d{1,2}\b")
TITLE = re.compile(r"def test_(\w+)")

READ = {".py", ".md", ".sql", ".ts", ".tsx", ".toml", ".css", ".html", ".yaml", ".conf", ".mjs"}
# Released migrations never change, nor do the functions of Postgres that they made. Specifications are quoted.
QUOTED = (
    "src/runyard/stores/migrations/versions/",
    "src/runyard/stores/sql/postgres/schema.sql",
    "docs/requirements",
    "tests/architecture/test_plain_english.py",
)


def texts() -> Iterator[tuple[str, str]]:
    """Every tracked text file with its content."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, names):
        path = ROOT / name
        if path.suffix in READ and path.is_file() and not name.startswith(QUOTED):
            yield name, path.read_text(encoding="utf-8")


def found(pattern: re.Pattern[str], text: str) -> list[int]:
    return [number for number, line in enumerate(text.split("\n"), 1) if pattern.search(line)]


@pytest.mark.parametrize(
    "pattern", [BANNED, OWN, RELATIVE_SUBJECT, OUTSIDE_CODES], ids=["words", "own", "relative subjects", "codes"]
)
def test_no_text_uses_a_banned_word_or_an_outside_code(pattern: re.Pattern[str]) -> None:
    places = [f"{name}:{line}" for name, text in texts() for line in found(pattern, text)]
    assert places == [], "name the actor and the thing (CONTRIBUTING.md, Language)"


@pytest.mark.parametrize(
    "pattern",
    [BANNED, OWN, CODES_IN_TITLES, FIRST_WORDS_OF_TITLES],
    ids=["words", "own", "codes", "clauses"],
)
def test_no_test_name_uses_a_banned_word_or_an_outside_code(pattern: re.Pattern[str]) -> None:
    sources = {name: text for name, text in texts() if name.endswith(".py")}
    names = [f"{name}: test_{title}" for name, text in sources.items() for title in banned_titles(pattern, text)]
    assert names == [], "name the actor and the thing (CONTRIBUTING.md, Language)"


def banned_titles(pattern: re.Pattern[str], text: str) -> list[str]:
    """Return the names of tests that match if they are read as a sentence."""
    return [title for title in TITLE.findall(text) if pattern.search(title.replace("_", " "))]


def test_the_rule_reads_names_of_tests_as_sentences() -> None:
    assert banned_titles(BANNED, "def test_a_wait_that_nobody_answers() -> None:") == ["a_wait_that_nobody_answers"]
    assert banned_titles(OWN, "async def test_a_thread_of_its_own() -> None:") == ["a_thread_of_its_own"]
    assert banned_titles(CODES_IN_TITLES, "def test_d3_a_late_cursor() -> None:") == ["d3_a_late_cursor"]
    assert banned_titles(CODES_IN_TITLES, "def test_sha256_and_utf8() -> None:") == []
    assert banned_titles(FIRST_WORDS_OF_TITLES, "def test_what_failed_says_why() -> None:") == ["what_failed_says_why"]
    assert banned_titles(FIRST_WORDS_OF_TITLES, "def test_a_run_says_what_failed() -> None:") == []


def test_no_docstring_begins_with_a_clause_instead_of_the_thing() -> None:
    sources = {name: text for name, text in texts() if name.endswith(".py")}
    places = [f"{name}:{line}" for name, text in sources.items() for line in found(FIRST_WORDS, text)]
    assert places == [], "begin with a verb or a noun that names the thing (CONTRIBUTING.md, Language)"


@pytest.mark.parametrize(
    "line",
    ['"""What a run waits for."""', '    """Who sends it."""', '    """Of a root: all spans."""', '"""Of an agent."""'],
)
def test_the_rule_sees_a_docstring_that_begins_with_a_clause(line: str) -> None:
    assert found(FIRST_WORDS, line) == [1]


@pytest.mark.parametrize("line", ['"""The waits of a run."""', "# What happens if a run ends?"])
def test_the_rule_leaves_docstrings_alone_that_name_their_thing(line: str) -> None:
    assert found(FIRST_WORDS, line) == []


@pytest.mark.parametrize(
    "line",
    [
        "Nobody waits here.",
        "# made anew",
        "all but for one",
        "a pattern that is none",
        "suites of others",
        "measured in turns",
        "the run goes on",
        "while the database is away",
        "a tool of ours",
        "branches that an edit put aside",
        "a child of what is under way here",
        "sent as far as it is known",
    ],
)
def test_the_rule_sees_a_banned_word(line: str) -> None:
    assert found(BANNED, line) == [1]


@pytest.mark.parametrize(
    "line", ["in a thread of its own.", "clients in processes of their own", "ids of your own, too"]
)
def test_the_rule_sees_a_thing_of_its_own(line: str) -> None:
    assert found(OWN, line) == [1]


@pytest.mark.parametrize("line", ["sessions of its own role", "with a model instead of its own."])
def test_the_rule_leaves_its_own_thing_alone(line: str) -> None:
    assert found(OWN, line) == []


@pytest.mark.parametrize("line", ["What is due is decided later.", "It ends. What was written stays open."])
def test_the_rule_sees_a_relative_clause_as_a_subject(line: str) -> None:
    assert found(RELATIVE_SUBJECT, line) == [1]


@pytest.mark.parametrize(
    "line", ["## 1. What is the status?", "What happens if a run ends.", "What is wrong, for people."]
)
def test_the_rule_leaves_questions_alone(line: str) -> None:
    assert found(RELATIVE_SUBJECT, line) == []


@pytest.mark.parametrize(
    "line", ["a renewed lease", "if found is None:", "`nobody` is a user", "it allows this", "recommended"]
)
def test_the_rule_leaves_other_words_alone(line: str) -> None:
    assert found(BANNED, line) == []


@pytest.mark.parametrize("line", ["as DESIGN says", "(C36)", "STORAGE fault 27", '"""D6: a run."""'])
def test_the_rule_sees_an_outside_code(line: str) -> None:
    assert found(OUTSIDE_CODES, line) == [1]
