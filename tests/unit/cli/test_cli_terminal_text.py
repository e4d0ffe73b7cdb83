"""Ages and durations are short and never negative."""

from datetime import UTC, datetime

import pytest

from runyard.cli.terminal.text import age, duration, one_line, plain, revealed, span

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-1, "0.0 s"),
        (0.44, "0.4 s"),
        (12.9, "12 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7199, "119 min"),
        (7200, "2 h"),
        (172_800, "2 d"),
    ],
)
def test_a_span_has_one_unit(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_a_run_that_goes_on_has_taken_until_now_and_one_that_waits_nothing() -> None:
    assert age("2026-01-01T23:59:00.000Z", NOW) == "60 s"
    assert duration("2026-01-01T23:59:00.000Z", None, NOW) == "60 s"
    assert duration("2026-01-01T23:59:00.000Z", "2026-01-01T23:59:01.500Z", NOW) == "1.5 s"
    assert duration(None, None, NOW) == "-"


def test_a_value_is_cut_to_one_line() -> None:
    assert one_line({"a": "x" * 100}, 10) == '{"a":"xxx…'
    assert one_line("a\n  b") == "a b"


def test_characters_that_cannot_be_seen_are_escaped_as_on_the_page() -> None:
    for hidden in "\u202e\u2066\u200b\u200d\u200e\u2060\ufeff\u2028\x1b\x9b\u061c\u034f\u3164\ufe0f":
        assert revealed(f"a{hidden}b") == rf"a\u{ord(hidden):04x}b"
    assert revealed("a\U000e0041\U000e0100b") == r"a\udb40\udc41\udb40\udd00b", "as in JSON"
    assert revealed("one\r\n\ttwo\r") == "one\r\n\ttwo\\u000d"
    assert revealed("日本 é 🚢") == "日本 é 🚢"
    assert one_line({"to": "ann\u200b@x"}, safe=revealed) == '{"to":"ann\\u200b@x"}'
    joined = "👩\u200d💻"
    assert plain(joined) == joined, "answers have emoji"
