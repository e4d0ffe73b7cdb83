"""Text for a terminal: ages, durations, colours of statuses, and agents' text without control characters."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

UNITS = {"m": 60, "h": 3600, "d": 86_400}
STATUS_COLOURS = {"done": "green", "error": "red", "canceled": "yellow", "running": "cyan", "waiting": "magenta"}

# Characters that move the cursor, ring or change colours: an agent's text must not do that.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# Characters that a person does not see: also those without width, those that change the direction of text, and those
# that Unicode lets a terminal ignore. The page has the same rule (`revealed` in ui/src/parts/text/words.ts).
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]|\r(?!\n)"
)


def plain(text: str) -> str:
    """Replace control characters."""
    return _CONTROL.sub("\ufffd", text)


def revealed(text: str) -> str:
    """Escape the characters that a person does not see, as JSON does: a person approves what the terminal shows. For
    inputs and names of tools; answers keep the characters that join emoji."""
    return _UNSEEN.sub(lambda found: _escaped(found[0]), text)


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def one_line(value: object, limit: int = 80, safe: Callable[[str], str] = plain) -> str:
    """Return a value as one line of at most `limit` characters. `safe`: how characters are replaced."""
    import msgspec

    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    text = " ".join(safe(text).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def seconds_in(text: str) -> int | None:
    """Return the seconds of 30m, 12h or 90d; None for any other text."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([mhd])", text)
    return None if found is None else int(found[1]) * UNITS[found[2]]


def moment(iso: str) -> datetime:
    return datetime.fromisoformat(iso)


def now() -> datetime:
    return datetime.now(UTC)


def age(iso: str, at: datetime | None = None) -> str:
    return span(((at or now()) - moment(iso)).total_seconds())


def age_of_id(known_id: str) -> str:
    """Return the time since an id was made: that of a thread's newest run tells its last activity."""
    from runyard.base.ids import made_at

    return span(now().timestamp() - made_at(known_id) / 1000)


def until(iso: str, at: datetime | None = None) -> str:
    """Return the time until then; an empty text if it has passed."""
    left = (moment(iso) - (at or now())).total_seconds()
    return span(left) if left > 0 else ""


def duration(start: str | None, end: str | None, at: datetime | None = None) -> str:
    """Return the time from start to end, or until now."""
    if start is None:
        return "-"
    return span(((at or now()) if end is None else moment(end)).timestamp() - moment(start).timestamp())


def span(seconds: float) -> str:
    """Return a number of seconds as 0.4 s, 12 s, 3 min, 5 h or 2 d."""
    seconds = max(0.0, seconds)
    if seconds < 10:
        return f"{seconds:.1f} s"
    for size, unit, until in ((1, "s", 120), (60, "min", 7200), (3600, "h", 172_800)):
        if seconds < until:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds // 86_400)} d"


def tokens(count: int) -> str:
    """Return a number of tokens as 812, 12,345 or 1.3 M; a dash for none."""
    if not count:
        return "-"
    return f"{count:,}" if count < 1_000_000 else f"{count / 1_000_000:.1f} M"


def money(usd: float) -> str:
    """Return US dollars as $0.0042, $0.10 or $12.30; a dash for none."""
    if not usd:
        return "-"
    if usd >= 1:
        return f"${usd:,.2f}"
    whole, _, part = f"{usd:.4f}".partition(".")
    return f"${whole}.{part[:2]}{part[2:].rstrip('0')}"


def size(count: float) -> str:
    """12 kB, 3.4 MB, 1.2 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
