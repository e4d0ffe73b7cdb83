"""Times as clients read them."""

from datetime import UTC, datetime


def iso(ms: int | None) -> str | None:
    """Return milliseconds since 1970 as ISO 8601 in UTC."""
    if ms is None:
        return None
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def from_iso(text: str) -> int:
    """Return the milliseconds since 1970 of a time that `iso` wrote."""
    seconds, _, thousandths = text.removesuffix("Z").partition(".")
    return int(datetime.fromisoformat(f"{seconds}+00:00").timestamp()) * 1000 + int(thousandths)
