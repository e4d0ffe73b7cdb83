"""`make strangers` compares the outcome of a suite with the section of docs/strangers.md that is about it."""

import pytest

from scripts.strangers import HEADINGS, PAGE, Documented, Outcome, differences, documented

PAGE_OF_TWO = """# Suites

## One

Some words: 7 passed, 3
failed, 2 skipped.

| failed test | why |
|---|---|
| `test_a`, `test b` (both bindings) | `test_w` of the specification wants it |
| `test_c` | it is optional |

Left out:

| tests | why |
|---|---|
| `test_x` | it needs Docker |

## Two

1 passed, 1 failed.

| failed check | why |
|---|---|
| `test_z` | there is none |
"""
ONE = documented(PAGE_OF_TWO, "One")
NAMES = ("test_a", "test b", "test_c")


def test_the_names_and_numbers_are_those_of_the_section() -> None:
    assert Documented(frozenset(NAMES), "7 passed, 3 failed, 2 skipped") == ONE
    assert documented(PAGE_OF_TWO, "Two") == Documented(frozenset(["test_z"]), "1 passed, 1 failed")


def test_an_outcome_that_the_page_describes_has_no_differences() -> None:
    assert differences(ONE, Outcome(7, 3, 2, NAMES)) == []
    assert differences(documented(PAGE_OF_TWO, "Two"), Outcome(1, 1, 5, ["test_z"])) == [], "skipped ones are not named"


@pytest.mark.parametrize("name", ["test_new", "test_x", "test_w", "test_z"])
def test_a_failure_that_the_table_of_its_suite_does_not_name_is_a_difference(name: str) -> None:
    """Also if the page has the name elsewhere."""
    found = differences(ONE, Outcome(7, 3, 2, [*NAMES, name]))
    assert found == [f"{name}: failed, and is not in its table"]


def test_a_named_failure_that_passes_now_is_a_difference() -> None:
    found = differences(ONE, Outcome(7, 3, 2, ["test_a", "test_c"]))
    assert found == ["test b: in its table, and did not fail"]


@pytest.mark.parametrize("numbers", [(8, 3, 2), (7, 4, 2), (7, 3, 20)])
def test_another_number_is_a_difference(numbers: tuple[int, int, int]) -> None:
    found = differences(ONE, Outcome(*numbers, NAMES))
    assert found == ["the page says: 7 passed, 3 failed, 2 skipped"]


def test_a_suite_that_failed_as_a_whole_says_nothing_about_single_checks() -> None:
    found = differences(ONE, Outcome(0, 1, 0, ["all tests of one"]))
    assert found == ["all tests of one: failed, and is not in its table"]


@pytest.mark.parametrize("heading", HEADINGS.values())
def test_the_page_has_names_and_numbers_for_each_suite(heading: str) -> None:
    found = documented(PAGE.read_text("utf-8"), heading)
    assert found.names
    assert found.numbers
