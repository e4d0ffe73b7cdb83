"""docs/api.md shows each section of a docstring as it is written."""

from scripts.api.api_doc import body


def test_the_second_line_of_an_entry_belongs_to_the_entry() -> None:
    text = "Do it.\n\nRaises:\n    Invalid: If the name is wrong,\n        or missing.\n    KeyError: If not."
    assert list(body(text)) == [
        "Do it.\n",
        "Raises:\n",
        "- `Invalid`: If the name is wrong, or missing.\n- `KeyError`: If not.\n",
    ]
    assert list(body("Args:\n    one: The only\n        argument."))[-1] == "- `one`: The only argument.\n"


def test_an_example_keeps_its_indents() -> None:
    text = "Do it.\n\nExample:\n    >>> for i in ():\n    ...     print(i)"
    assert list(body(text))[-1] == "```python\n>>> for i in ():\n...     print(i)\n```\n"
