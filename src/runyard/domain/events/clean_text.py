"""Text that every store can store and every encoder can write."""

from typing import Any


def cleaned(value: Any) -> Any:
    """Return a JSON value whose texts are clean, see `clean`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): cleaned(item) for key, item in value.items()}
    return value


def clean(text: str) -> str:
    """Return text that every store can store and every encoder can write: without NUL and lone surrogates, and without
    U+FDD0, a noncharacter that marks sealed values (`encryption/cipher.py`)."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").replace("\ufdd0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
