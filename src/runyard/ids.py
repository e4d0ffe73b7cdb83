"""Ids: UUIDv7 as text, so that ids sort by time and a run's events lie together on disk; and text nobody can guess."""

import secrets
from string import ascii_letters, ascii_lowercase, digits
from uuid import UUID

from uuid_utils import uuid7


def new_id() -> str:
    return str(uuid7())


def new_approval_id() -> str:
    """The id of an approval, on every face: `approval_` and a UUID that sorts by time and says it is of version 4."""
    made = new_id()
    return f"approval_{made[:14]}4{made[15:]}"


def first_id_at(ms: int) -> str:
    """The smallest id of a millisecond: a bound for ranges of ids by time."""
    return str(UUID(int=(ms << 80) | (7 << 76) | (2 << 62)))


def made_at(known_id: str) -> int:
    """When an id was made, in milliseconds since 1970."""
    return UUID(known_id).int >> 80


def is_id(text: str) -> bool:
    """Whether `text` is an id as we write them: a UUID in canonical lower-case form."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def new_name(length: int) -> str:
    """A name of small letters and digits, for people to copy."""
    return "".join(secrets.choice(ascii_lowercase + digits) for _ in range(length))


def new_secret(length: int) -> str:
    """Letters and digits only, so that a double click takes all of it: almost 6 random bits each."""
    return "".join(secrets.choice(ascii_letters + digits) for _ in range(length))
