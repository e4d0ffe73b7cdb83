"""The rule of a rate limit: whether another call fits into a sliding window, and when it does if not."""

FORGET_MS = 86_400_000  # the longest window; what is older counts for no limit


def wait_ms(called_at: int | None, now: int, window_ms: int) -> int:
    """Return 0 if a call may be made, or the milliseconds until it may be.

    `called_at` is the time of the call that would leave the window for this one: with a limit of n, the n-th last."""
    return 0 if called_at is None else max(0, called_at + window_ms - now)
