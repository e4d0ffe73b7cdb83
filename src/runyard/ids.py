"""Ids: UUIDv7 as text, so that ids sort by time and a run's events lie together on disk."""

from uuid import UUID

from uuid_utils import uuid7


def new_id() -> str:
    return str(uuid7())


def is_id(text: str) -> bool:
    """Whether `text` is an id as we write them: a UUID in canonical lower-case form."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
