"""Tables of the command line: columns are aligned, ids are never cut, and only text wraps."""

import io
import sys

import pytest

from runyard.cli.terminal.output import echo, secho, style, unstyled
from runyard.cli.terminal.text_table import TextTable, broken
from runyard.cli.terminal.watching import CLEAR, watch

ID = "01a1e52c-90ef-716f-aa47-9cf6bf642cc5"


def shown(table: TextTable, width: int) -> list[str]:
    return [unstyled(line) for line in table.lines(width)]


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    table = TextTable("run", "status")
    table.add_row("a", style("done", fg="green"))
    table.add_row("long", "x")
    assert shown(table, 80) == ["run   status", "a     done", "long  x"]


def test_wide_and_combining_letters_are_aligned_as_a_terminal_shows_them() -> None:
    table = TextTable("a", "b")
    table.add_row("日本", "x")
    table.add_row("e\u0301", "x")
    assert shown(table, 80) == ["a     b", "日本  x", "e\u0301     x"]


@pytest.mark.parametrize("width", [1, 40, 60])
def test_an_id_is_never_cut(width: int) -> None:
    table = TextTable("run", "error", wraps=[1])
    table.add_row(ID, "words that go on for a while")
    lines = shown(table, width)
    [of_id] = [line for line in lines if line.startswith(ID)]
    text = " ".join(line.removeprefix(ID) for line in lines[lines.index(of_id) :])
    assert " ".join(text.split()) == "words that go on for a while"
    assert max(map(len, lines)) <= max(width, len(ID))


def test_columns_that_do_not_fit_continue_on_a_second_line() -> None:
    table = TextTable("run", "agent", "status", "question", wraps=[3])
    table.add_row(ID, "poet", "done", "What rhymes with orange, and why does it matter to you?")
    table.add_row(ID, "poet", "error", "")
    assert shown(table, 44) == [
        "run                                   agent",
        "  status  question",
        f"{ID}  poet",
        "  done    What rhymes with orange, and why",
        "          does it matter to you?",
        f"{ID}  poet",
        "  error",
    ]
    assert len(shown(table, 120)) == 3, "a line for each row"


def test_a_word_longer_than_its_column_is_broken() -> None:
    table = TextTable("a", "b", wraps=[1])
    table.add_row("x", "y" * 50)
    assert shown(table, 23) == ["a  b", "x  " + "y" * 20, "   " + "y" * 20, "   " + "y" * 10]


def test_the_rest_of_an_indented_line_is_indented_too() -> None:
    table = TextTable("", "", wraps=[1], header=False)
    table.add_row("input", '{\n  "why": "it has to be so"\n}')
    assert shown(table, 27) == ["input  {", '         "why": "it has to', '         be so"', "       }"]


def test_a_long_word_of_an_indented_line_is_cut_for_the_indent_of_each_part() -> None:
    inner = " " * 10
    assert list(broken(" " * 18 + "x" * 24, 20, inner)) == [
        f"{' ' * 18}xx",
        f"{inner}{'x' * 10}",
        *[f"{inner}{'x' * 10}", f"{inner}xx"],
    ]


def test_a_cell_keeps_its_lines() -> None:
    table = TextTable("", "", wraps=[1], header=False)
    table.add_row("answer", "one\n\n\ttwo")
    assert shown(table, 80) == ["answer  one", "", "            two"]


def test_an_empty_table_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    TextTable("run").echo("No runs")
    assert capsys.readouterr().out == "No runs\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


async def test_a_view_that_refreshes_itself_clears_a_terminal_also_without_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Drawn(Exception):
        """Ends the view."""

    async def fetch() -> str:
        return "done"

    def draw(found: str) -> None:
        secho(found, fg="green")
        raise Drawn

    for term, cleared in (("xterm", CLEAR), ("dumb", "")):
        terminal = Terminal()
        with monkeypatch.context() as patch:
            patch.setenv("NO_COLOR", "1")
            patch.setenv("TERM", term)
            patch.setattr(sys, "stdout", terminal)
            with pytest.raises(Drawn):
                await watch(fetch, draw)
        assert terminal.getvalue() == f"{cleared}done\n"


def test_colours_are_for_terminals_that_show_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal, variables, coloured in (
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ):
        with monkeypatch.context() as patch:
            patch.delenv("NO_COLOR", raising=False)
            patch.setenv("TERM", "xterm")
            for name, value in variables.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdout", terminal)
            secho("done", fg="green")
            echo(style("x", bold=True, dim=True), nl=False)
        assert terminal.getvalue() == ("\x1b[32mdone\x1b[0m\n\x1b[1;2mx\x1b[0m" if coloured else "done\nx")
