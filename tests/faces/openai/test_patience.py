"""How long a request without a stream may take, by the headers of OpenAI's libraries."""

import pytest

from runyard.faces.openai.follow import patience_of

PYTHON, NODE, DENO = (
    {"x-stainless-lang": "python", "x-stainless-runtime": "CPython"},
    {"x-stainless-lang": "js", "x-stainless-runtime": "node"},
    {"x-stainless-lang": "js", "x-stainless-runtime": "deno"},
)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        (PYTHON, None),
        ({**PYTHON, "x-stainless-read-timeout": "600"}, 595),
        ({**PYTHON, "x-stainless-read-timeout": "600.0"}, 595),
        ({**PYTHON, "x-stainless-read-timeout": "4"}, 2),
        ({**PYTHON, "x-stainless-read-timeout": "0"}, None),
        ({**PYTHON, "x-stainless-read-timeout": "nan"}, None),
        ({**PYTHON, "x-stainless-read-timeout": "-1"}, None),
        (NODE, 295),
        ({**NODE, "x-stainless-timeout": "60"}, 55),
        ({**NODE, "x-stainless-timeout": "1200"}, 295),
        (DENO, 595),
        ({**DENO, "x-stainless-timeout": "1200"}, 1195),
    ],
)
def test_an_answer_comes_before_the_library_gives_up(headers: dict[str, str], seconds: float | None) -> None:
    assert patience_of(headers) == seconds
