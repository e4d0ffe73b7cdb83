"""The cipher for content at rest: AES-256-GCM.

A sealed value names its key and is bound to its place: it opens only with the `scope` and `detail` it was sealed with
(a run and an event, a row and a column). A value that was changed or moved raises Unreadable and never becomes garbage.
An unsealed value raises Unreadable too: `runyard keys rotate-encryption` seals content from before there was a key. The
first key of a ring seals, all keys open.

    bytes   FF 01, length of the key's id, the id, 12 bytes of nonce, ciphertext and tag
    text    U+FDD0, "1", the id, ":", base64 of nonce, ciphertext and tag

Plain content cannot look like either: FF is in no UTF-8, and U+FDD0 is a noncharacter that `events.clean` removes from
all input. Each scope has its own key, derived from the ring's key, so that random nonces are safe for any number of
events.
"""

import os
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import lru_cache
from hmac import digest as hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct

from runyard.errors import Unreadable

MARK = b"\xff\x01"
TEXT_MARK = "\ufdd01"
KEY_BYTES = 32
NONCE_BYTES = 12
_KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)


class Key(Struct, frozen=True):
    """An encryption key with its public id."""

    id: str
    secret: bytes

    def __repr__(self) -> str:
        return f"Key({self.id!r})"

    @property
    def head(self) -> bytes:
        """Return the first bytes of every value that this key sealed."""
        return MARK + bytes([len(self.id)]) + self.id.encode()

    @property
    def text_head(self) -> str:
        return f"{TEXT_MARK}{self.id}:"


PLAIN = (
    "A stored value is not encrypted, and this process has an encryption key. If it was stored before the key was set, "
    "run `runyard keys rotate-encryption`. Otherwise it was changed outside of Runyard."
)

NO_KEY = (
    "A stored value is encrypted with a key that this process does not have. Add the key to RUNYARD_ENCRYPTION_KEYS."
)


class KeyRing:
    """The keys of a process. With `accepts_plain`, unsealed values open unchanged: only for the rotation, which seals
    them."""

    def __init__(self, keys: Sequence[Key], accepts_plain: bool = False) -> None:
        self.accepts_plain = accepts_plain
        self.keys = {key.id: key for key in keys}
        self.writer = keys[0]
        self._head = self.writer.head
        self._text_head = self.writer.text_head
        self._box = lru_cache(2048)(self._made)

    def __repr__(self) -> str:
        return f"KeyRing({', '.join(self.keys)})"

    def accepting_plain(self) -> "KeyRing":
        return KeyRing(list(self.keys.values()), accepts_plain=True)

    def refuse_plain(self) -> None:
        """Raise Unreadable for an unsealed value, unless this ring accepts it."""
        if not self.accepts_plain:
            raise Unreadable(PLAIN)

    def _made(self, key_id: str, scope: str) -> AESGCM:
        return AESGCM(hmac(self.keys[key_id].secret, scope.encode(), "sha256"))

    def seal(self, plain: bytes, scope: str, detail: str) -> bytes:
        return self._head + self._sealed(plain, scope, detail)

    def seal_all(self, values: Sequence[tuple[bytes, str]], scope: str) -> list[bytes]:
        """Seal many values with their details. The hot path of the log."""
        head, encrypt = self._head, self._box(self.writer.id, scope).encrypt
        nonces = os.urandom(NONCE_BYTES * len(values))
        sealed, at = [], 0
        for plain, detail in values:
            nonce = nonces[at : at + NONCE_BYTES]
            at += NONCE_BYTES
            sealed.append(head + nonce + encrypt(nonce, plain, f"{scope} {detail}".encode()))
        return sealed

    def fingerprint(self, value: str, scope: str) -> str:
        """Return a digest that only the writer's key can make, so that equal values are found and none is guessed."""
        secret = hmac(self.writer.secret, f"fingerprint {scope}".encode(), "sha256")
        return hmac(secret, value.encode(), "sha256").hex()

    def seal_text(self, plain: str, scope: str, detail: str) -> str:
        return self._text_head + b64encode(self._sealed(plain.encode(), scope, detail)).decode()

    def open(self, kept: bytes, scope: str, detail: str) -> bytes:
        if not kept.startswith(MARK):
            self.refuse_plain()
            return kept
        start = 3 + int.from_bytes(kept[2:3], "big")
        return self._opened(kept[3:start].decode("ascii", "replace"), kept[start:], scope, detail)

    def open_text(self, kept: str, scope: str, detail: str) -> str:
        if not kept.startswith(TEXT_MARK):
            self.refuse_plain()
            return kept
        key_id, _, rest = kept[len(TEXT_MARK) :].partition(":")
        try:
            sealed = b64decode(rest, validate=True)
        except ValueError:
            raise Unreadable from None
        return self._opened(key_id, sealed, scope, detail).decode()

    def _sealed(self, plain: bytes, scope: str, detail: str) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._box(self.writer.id, scope).encrypt(nonce, plain, f"{scope} {detail}".encode())

    def _opened(self, key_id: str, sealed: bytes, scope: str, detail: str) -> bytes:
        if key_id not in self.keys:
            raise Unreadable(NO_KEY)
        nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        try:
            return self._box(key_id, scope).decrypt(nonce, rest, f"{scope} {detail}".encode())
        except (InvalidTag, ValueError):
            raise Unreadable from None


def parse(text: str) -> KeyRing:
    """Return the ring of `id:base64, id:base64`. Raise ValueError, without secrets in its text, if it is invalid."""
    keys = [_key(part.strip()) for part in text.split(",") if part.strip()]
    if not keys:
        raise ValueError("must have a key; `runyard keys make-encryption` makes one")
    if len({key.id for key in keys}) < len(keys):
        raise ValueError("has two keys with the same id; rename one")
    return KeyRing(keys)


def _key(part: str) -> Key:
    key_id, _, secret = part.partition(":")
    try:
        data = b64decode(secret, validate=True)
    except ValueError:
        data = b""
    if not _KEY_ID.fullmatch(key_id) or len(data) != KEY_BYTES:
        raise ValueError(
            "must be keys like name:base64-of-32-bytes, with commas between them;"
            " `runyard keys make-encryption` makes one"
        )
    return Key(key_id, data)


def make(key_id: str) -> str:
    """Return a new key in the format of the settings."""
    if not _KEY_ID.fullmatch(key_id):
        raise ValueError("a key's name must have 1 to 32 letters, digits, - or _")
    return f"{key_id}:{b64encode(os.urandom(KEY_BYTES)).decode()}"
