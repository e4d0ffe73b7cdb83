"""The state of a fold as bytes, and back: the content of a snapshot.

`VERSION` changes whenever `State`, or what the fold makes of an event, changes. A state of another version cannot be
decoded, and its reader folds the log instead.
"""

from typing import Literal

import msgspec
from msgspec import Struct

from runyard.domain.state.run_state import State

VERSION: Literal[6] = 6


class _Kept(Struct):
    v: Literal[6]
    state: State


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Kept).decode


def encoded(state: State) -> bytes:
    return _encode(_Kept(VERSION, state))


def decoded(data: bytes) -> State:
    """Raise msgspec.MsgspecError unless this is a state of this version."""
    return _decode(data).state
