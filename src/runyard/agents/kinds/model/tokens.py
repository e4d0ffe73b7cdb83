"""The number of tokens of messages, estimated from the length of their JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

LETTERS_PER_TOKEN = 4


def estimate_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    return len(msgspec.json.encode(messages)) // LETTERS_PER_TOKEN
