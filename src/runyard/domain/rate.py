"""The rule of a rate limit: whether another call fits into a sliding window, or when it will."""

FORGET_MS = 86_400_000  # the longest window


def wait_ms(called_at: int | None, now: int, window_ms: int) -> int:
    """Return 0 if a call is allowed, or the milliseconds until it is.

    `called_at` is the time of the call that must have left the window: with a limit of n, the n-th last call."""
    return 0 if called_at is None else max(0, called_at + window_ms - now)
