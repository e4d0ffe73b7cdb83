"""Text for a terminal: ages, durations, colours of statuses, and agents' text without control characters."""

import re
from datetime import UTC, datetime

UNITS = {"m": 60, "h": 3600, "d": 86_400}
STATUS_COLOURS = {"done": "green", "error": "red", "canceled": "yellow", "running": "cyan", "waiting": "magenta"}

# Characters that move the cursor, ring or change colours: an agent's text must not do that.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Replace control characters."""
    return _CONTROL.sub("\ufffd", text)


def one_line(value: object, limit: int = 80) -> str:
    """Return a value as one line of at most `limit` characters."""
    import msgspec

    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    text = " ".join(plain(text).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def seconds_in(text: str) -> int | None:
    """Return the seconds of 30m, 12h or 90d; None for any other text."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([mhd])", text)
    return None if found is None else int(found[1]) * UNITS[found[2]]


def moment(iso: str) -> datetime:
    return datetime.fromisoformat(iso)


def age(iso: str, now: datetime | None = None) -> str:
    return span(((now or datetime.now(UTC)) - moment(iso)).total_seconds())


def until(iso: str, now: datetime | None = None) -> str:
    """Return the time until then; an empty text if it has passed."""
    left = (moment(iso) - (now or datetime.now(UTC))).total_seconds()
    return span(left) if left > 0 else ""


def duration(start: str | None, end: str | None, now: datetime | None = None) -> str:
    """Return the time from start to end, or until now."""
    if start is None:
        return "-"
    return span(((now or datetime.now(UTC)) if end is None else moment(end)).timestamp() - moment(start).timestamp())


def span(seconds: float) -> str:
    """Return a number of seconds as 0.4 s, 12 s, 3 min, 5 h or 2 d."""
    seconds = max(0.0, seconds)
    if seconds < 10:
        return f"{seconds:.1f} s"
    for size, unit, until in ((1, "s", 120), (60, "min", 7200), (3600, "h", 172_800)):
        if seconds < until:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds // 86_400)} d"
