"""Text that arrives in pieces is broken between words at the end of the line, and shown as early as possible."""

import io

import pytest
from rich.cells import cell_len

from runyard.cli.terminal.wrapping import WordWrapper, filled

STORY = "The quick brown fox jumps over the lazy dog and tells a story.\n\nThen it rests for a while, at last.\n"


def shown(text: str, width: int, piece: int) -> str:
    wrapper = WordWrapper(width)
    return "".join(wrapper.feed(text[at : at + piece]) for at in range(0, len(text), piece)) + wrapper.flush()


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("width", [24, 30, 45])
def test_no_line_is_too_long_and_no_word_is_broken(width: int, piece: int) -> None:
    lines = shown(STORY, width, piece).split("\n")
    assert max(len(line.rstrip()) for line in lines) <= width
    assert " ".join(lines).split() == STORY.split(), "every word is whole"
    assert lines[-1] == ""


def test_code_and_long_words_stay_as_they_are() -> None:
    code = "```\n" + "x = 1  # " + "a long comment " * 5 + "\n```\n"
    assert shown(code, 40, 3) == code
    address = "https://example.com/" + "a" * 50
    for piece in (1, 4, 100):
        assert address in shown(f"see {address} now", 40, piece).split(), "it is one word"


def test_wide_letters_take_two_columns() -> None:
    assert shown("日本語 日本語 日本語 日本語", 24, 1).split("\n") == ["日本語 日本語 日本語 ", "日本語"]


def test_a_word_is_shown_at_once_far_from_the_end_of_a_line() -> None:
    wrapper = WordWrapper(80)
    assert wrapper.feed("hel") + wrapper.feed("lo") == "hello"
    wrapper.feed(" " + "word " * 12)
    assert wrapper.feed("hel") == "", "it may not fit"
    assert wrapper.flush() == "hel"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_text_fits_into_the_terminal_also_with_wide_letters_and_ids_stay_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    wide = "日本の首都はどこですか。そこには何人が住んでいますか。"
    lines = filled(f"see {wide} and\n\tmore", Terminal(), "").split("\n")
    assert max(map(cell_len, lines)) <= 20
    assert "".join(lines).replace(" ", "") == f"see{wide}andmore"
    address = "https://example.com/" + "a" * 50
    assert filled(f"see {address} now", Terminal()).split("\n") == ["see", f"  {address}", "  now"]
    assert filled(wide, io.StringIO()) == wide, "a file gets the text as it is"
