"""Errors that a client of the API receives."""

from typing import Any

from runyard.errors.base import RunyardError


class KeyRequired(RunyardError):
    """A valid API key is required: send `Authorization: Bearer <key>`. `runyard keys create` makes one."""

    code = "key_required"


class ScopeMissing(RunyardError):
    """This API key lacks a scope. Create a key that has it: `runyard keys create --scope <scope>`."""

    code = "scope_missing"


class NotFound(RunyardError):
    """There is nothing with that id. Check the id, and that the API key is its owner's."""

    code = "not_found"


class Gone(RunyardError):
    """Deleted by the retention policy."""

    code = "gone"

    # snapshot: the facts about it that are still stored, without content
    def __init__(self, message: str | None = None, *, snapshot: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.snapshot = snapshot


class Invalid(RunyardError):
    """The request is not valid. Correct the fields that the response names."""

    code = "invalid"


class BadRequest(Invalid):
    """The request cannot be read. Send it in the format that the API reference shows."""

    code = "bad_request"


class InvalidInput(Invalid):
    """The input does not match the parameters of the tool. Send what its schema describes."""

    code = "invalid_input"


class WrongType(Invalid):
    """Files of this type are not accepted. Send another type, or add it to RUNYARD_FILE_TYPES."""

    code = "wrong_type"


class TooLarge(Invalid):
    """The request is too large. Send less, or raise RUNYARD_MAX_BODY_BYTES."""

    code = "too_large"


class Conflict(RunyardError):
    """The request conflicts with the current state."""

    code = "conflict"


class KeyReused(Conflict):
    """This Idempotency-Key was used for a different request. Send a new key."""

    code = "idempotency_key_reused"


class RunActive(Conflict):
    """The run has not ended yet; cancel it or wait."""

    code = "run_active"


class AlreadyDecided(Conflict):
    """This approval has been decided already."""

    code = "already_decided"


class RunEnded(AlreadyDecided):
    """The run has ended, so its approvals can no longer be decided. Retry the run to be asked again."""

    code = "run_ended"


class Sealed(Conflict):
    """Encrypted content cannot be searched. Read the messages instead."""

    code = "sealed"


class TooMany(RunyardError):
    """A limit is reached; try again later."""

    code = "too_many"

    def __init__(self, message: str | None = None, *, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyRequests(TooMany):
    """This API key or address sends too many requests; try again in a moment."""

    code = "too_many_requests"


class TooManyStreams(TooMany):
    """Too many streams are open. Close some, or try again later."""

    code = "too_many_streams"


class QueueFull(TooMany):
    """Too many runs are queued; try again when some have ended."""

    code = "queue_full"
