"""Ids and secrets. Ids are UUIDv7 as text: they sort by time, and a run's events are stored together on disk."""

import secrets
from string import ascii_letters, ascii_lowercase, digits
from typing import Literal
from uuid import UUID

from uuid_utils import uuid7

IdKind = Literal["run", "thread", "wait"]  # kinds of objects whose ids are found by a part of them


def new_id() -> str:
    return str(uuid7())


def new_approval_id() -> str:
    """Return the id of an approval: `approval_` and a UUID that sorts by time and is marked as version 4."""
    made = new_id()
    return f"approval_{made[:14]}4{made[15:]}"


def new_wait_id() -> str:
    """Return the id of a wait that is not an approval."""
    return f"wait_{new_id()}"


def first_id_at(ms: int) -> str:
    """Return the smallest id of a millisecond, as a bound for ranges of ids by time."""
    return str(UUID(int=(ms << 80) | (7 << 76) | (2 << 62)))


def made_at(known_id: str) -> int:
    """Return when an id was made, in milliseconds since 1970."""
    return UUID(known_id).int >> 80


def is_id(text: str) -> bool:
    """Return whether `text` is an id: a UUID in canonical lower-case form."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def new_name(length: int) -> str:
    """Return a random name of lower-case letters and digits."""
    return "".join(secrets.choice(ascii_lowercase + digits) for _ in range(length))


def new_secret(length: int) -> str:
    """Return a random secret of letters and digits, so that a double click selects it: almost 6 random bits each."""
    return "".join(secrets.choice(ascii_letters + digits) for _ in range(length))
