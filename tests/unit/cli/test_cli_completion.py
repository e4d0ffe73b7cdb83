"""The completions that a shell offers after a tab."""

from collections.abc import Iterator

import pytest

from runyard.cli import OPTIONS, program
from runyard.cli.completion.candidates import KINDS, candidates

LISTED_BY_THREAD = {"share_id"}  # a list of ids is asked for by its kind alone, without the thread
IDS = {
    "run": ["01a1e52c", "01a1e52d"],
    "agent": ["clerk", "poet"],
    "thread": ["0aa"],
    "wait": ["wait_01a1e52c-90ef-716f-aa47-9cf6bf642cc5"],
}


def known(kind: str) -> Iterator[tuple[str, str]]:
    return ((each, f"a {kind}") for each in IDS.get(kind, []))


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ru", {"runs"}),
        ("runs s", {"show"}),
        ("runs show ", {"01a1e52c", "01a1e52d"}),
        ("runs show 01a1e52d", {"01a1e52d"}),
        ("runs show 01a1e52c ", set()),
        ("runs list --status ", {"queued", "running", "waiting", "done", "error", "canceled"}),
        ("runs list --status d", {"done"}),
        ("runs list --agent c", {"clerk"}),
        ("runs list --agent clerk --th", {"--thread"}),
        ("runs list --since ", set()),
        ("chat p", {"poet"}),
        ("chat poet --thread ", {"0aa"}),
        ("chat --json p", {"poet"}),
        ("waits show wait_0", {"wait_01a1e52c-90ef-716f-aa47-9cf6bf642cc5"}),
        ("waits show bf6", {"bf642cc5"}),
        ("waits show 9cf6bf642cc5", {"9cf6bf642cc5"}),
        ("waits show 642", set()),
        ("usage --by ", {"agent", "day"}),
        ("memory show clerk ", set()),
        ("dev ", {":files"}),
        ("runs export --to ", {":files"}),
        ("completion ", {"bash", "zsh", "fish"}),
        ("--", {"--help", *OPTIONS}),
        ("nothing ", set()),
        ("nothing like ", set()),
    ],
)
def test_words_that_may_follow_are_offered(line: str, offered: set[str]) -> None:
    assert {word for word, _ in candidates(program, line.split(" "), list(OPTIONS), known)} == offered


def test_an_option_is_offered_until_it_is_used_with_what_it_does() -> None:
    offered = dict(candidates(program, ["runs", "list", "--json", "-"], [], known))
    assert "--json" not in offered
    assert offered["--quiet"] == "Print ids or nothing, and no notes."
    again = dict(candidates(program, ["chat", "--file", "x", "--fi"], [], known))
    assert list(again) == ["--file"], "it may be repeated"


def test_every_command_and_every_id_can_be_completed() -> None:
    first = {word for word, _ in candidates(program, [""], [], known)}
    assert first == set(program.entries)
    for name, command in program.commands("runyard"):
        for parameter in command.parameters:
            if parameter.name.endswith("_id") and parameter.name not in LISTED_BY_THREAD:
                assert parameter.declared.completes in KINDS, name
