"""A traceback shows developers their own code, and formatting it never fails."""

from collections.abc import Callable

from runyard.agents.user_code.tracebacks import MOST_CHARS, traceback_of
from runyard.domain.redaction.redactor import Redactor
from runyard.errors import AgentError, ModelUnavailable


def raised(fn: Callable[[], object]) -> BaseException:
    try:
        fn()
    except BaseException as error:
        return error
    raise AssertionError


def breaks(text: str = "it broke") -> None:
    raise ValueError(text)


def test_a_traceback_begins_with_the_code_of_the_developer_and_shows_causes() -> None:
    def outer() -> None:
        try:
            breaks()
        except ValueError as error:
            raise RuntimeError("no result") from error

    text = traceback_of(raised(outer))
    assert text is not None
    assert text.index("ValueError: it broke") < text.index("direct cause") < text.index("RuntimeError: no result")
    assert "in breaks" in text


def test_frames_of_runyard_are_left_out() -> None:
    wrapper = AgentError("The agent failed with ValueError.")
    wrapper.__cause__ = raised(breaks)
    text = traceback_of(wrapper)
    assert text is not None
    assert text.splitlines()[-1] == "ValueError: it broke"
    assert "AgentError" not in text


def test_an_error_outside_user_code_has_no_traceback() -> None:
    assert traceback_of(ModelUnavailable()) is None
    assert traceback_of(ValueError()) is None


def test_members_of_a_group_are_shown() -> None:
    text = traceback_of(BaseExceptionGroup("two", [raised(breaks), KeyError("k")]))
    assert text is not None
    assert "ValueError: it broke" in text
    assert "KeyError: 'k'" in text


def test_a_long_one_keeps_its_beginning_and_its_end() -> None:
    text = traceback_of(raised(lambda: breaks("x" * 50_000 + " the end")))
    assert text is not None
    assert len(text) < MOST_CHARS + 100
    assert text.startswith("Traceback")
    assert text.endswith(" the end")
    assert "characters left out" in text


def test_no_cut_leaves_a_part_of_a_sensitive_text() -> None:
    message = "4111111111111111 " * (MOST_CHARS // 4)
    text = traceback_of(raised(lambda: breaks(message)), Redactor(["card"], {}))
    assert text is not None
    assert "characters left out" in text
    assert "1111" not in text


def test_an_exception_whose_str_raises_does_no_harm() -> None:
    class Hostile(ValueError):
        def __str__(self) -> str:
            raise OSError

    def fails() -> None:
        raise Hostile

    text = traceback_of(raised(fails))
    assert text is None or text.endswith("Hostile: <exception str() failed>")
