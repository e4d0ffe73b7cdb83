"""An API key: as whom somebody comes in, and what for.

A key reads `ry_<id>_<secret>`. The id is public: logs and lists name a key by it. Of the secret only a digest is kept;
it has 256 random bits, so that a quick hash is as good as a slow one, and nobody can be made to wait for it.
"""

import hmac
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Literal, NamedTuple, get_args

from msgspec import Struct

Scope = Literal["read", "write", "approve", "operate"]
SCOPES: Mapping[Scope, str] = {
    "read": "look at everything of the key's owner, and follow it",
    "write": "start, cancel, edit, retry, fork and delete",
    "approve": "decide what runs wait for",
    "operate": "read the metrics; make, list and revoke keys, of any owner",
}
ALL_SCOPES: frozenset[Scope] = frozenset(get_args(Scope))
DEFAULT_SCOPES: frozenset[Scope] = frozenset({"read", "write", "approve"})

LOCAL = "local"  # the owner of everything where no key is needed
ID_LENGTH, SECRET_LENGTH = 12, 43
OWNER = r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}"  # it names a folder, and a scope of Idempotency-Keys
_KEY = re.compile(rf"ry_([0-9a-z]{{{ID_LENGTH}}})_([0-9A-Za-z]{{{SECRET_LENGTH}}})")


class Parts(NamedTuple):
    id: str
    secret: str


class ApiKey(Struct, frozen=True, kw_only=True):
    """What is kept of a key."""

    id: str
    owner: str
    digest: str
    scopes: frozenset[Scope]
    label: str = ""
    created_at: int
    expires_at: int | None = None
    last_used_at: int | None = None
    revoked_at: int | None = None

    def refusal(self, secret: str, now: int) -> Literal["wrong", "revoked", "expired"] | None:
        """Why this secret does not open the door, or None: it does."""
        if not hmac.compare_digest(self.digest, digest_of(secret)):
            return "wrong"
        if self.revoked_at is not None:
            return "revoked"
        return None if self.is_valid(now) else "expired"

    def is_valid(self, now: int) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


def digest_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def whole(parts: Parts) -> str:
    """The key as its owner gets it, once."""
    return f"ry_{parts.id}_{parts.secret}"


def parts_of(given: str) -> Parts | None:
    """The id and the secret, if this reads like a key at all."""
    found = _KEY.fullmatch(given)
    return None if found is None else Parts(found[1], found[2])
