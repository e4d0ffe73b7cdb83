"""An API key: it authenticates a client as an owner, with scopes.

A key has the form `ry_<id>_<secret>`. The id is public: logs and lists show it. Only a digest of the secret is stored.
The secret has 256 random bits, so that a fast hash is as safe as a slow one.
"""

import hmac
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Literal, NamedTuple, get_args

from msgspec import Struct

Scope = Literal["read", "write", "approve", "operate"]
SCOPES: Mapping[Scope, str] = {
    "read": "read and follow all objects of the key's owner",
    "write": "start, cancel, edit, retry, fork and delete",
    "approve": "decide approvals, answer questions and client tools",
    "operate": "read metrics, overview and all statistics; rename and retire declared agents; manage keys of any owner",
}
ALL_SCOPES: frozenset[Scope] = frozenset(get_args(Scope))
DEFAULT_SCOPES: frozenset[Scope] = frozenset({"read", "write", "approve"})

LOCAL = "local"  # the owner of all objects where no key is needed
ID_LENGTH, SECRET_LENGTH = 12, 43
OWNER = r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}"  # it is part of folder names and of the scope of Idempotency-Keys
_KEY = re.compile(rf"ry_([0-9a-z]{{{ID_LENGTH}}})_([0-9A-Za-z]{{{SECRET_LENGTH}}})")


class KeyParts(NamedTuple):
    """The id and the secret of a key."""

    id: str
    secret: str


class ApiKey(Struct, frozen=True, kw_only=True):
    """A stored key."""

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
        """Return why this secret is refused, or None if it is valid."""
        if not hmac.compare_digest(self.digest, digest_of(secret)):
            return "wrong"
        if self.revoked_at is not None:
            return "revoked"
        return None if self.is_valid(now) else "expired"

    def is_valid(self, now: int) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


def digest_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def whole(parts: KeyParts) -> str:
    """Return the key as text. Its owner sees it once."""
    return f"ry_{parts.id}_{parts.secret}"


def parts_of(given: str) -> KeyParts | None:
    """Return the id and the secret, or None if the text has not the form of a key."""
    found = _KEY.fullmatch(given)
    return None if found is None else KeyParts(found[1], found[2])
