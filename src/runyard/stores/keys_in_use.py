"""The start-up check of encryption keys: a process opens a database only if it has every key that sealed content in it.

Each key stores a proof when it is first used, so that a wrong key under a known name is found too.
"""

from typing import TYPE_CHECKING

from runyard.errors import StartupError, Unreadable
from runyard.stores.sql_store import SqlStore
from runyard.stores.transactions.upkeep import encryption

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing

_SCOPE = "encryption_keys"


async def check(store: SqlStore, ring: "KeyRing | None") -> None:
    """Raise StartupError, in one sentence, if a key is missing or wrong; else record the key that seals from now on."""
    proofs = await store._read(encryption.keys)
    for key_id, proof in proofs.items():
        if ring is None or key_id not in ring.keys:
            raise StartupError(
                f"The database holds content that was sealed with the key {key_id!r}, which is not in"
                " RUNYARD_ENCRYPTION_KEYS. Add it, after the key that seals new content."
            )
        try:
            ring.open(proof, _SCOPE, key_id)
        except Unreadable:
            raise StartupError(
                f"The key {key_id!r} in RUNYARD_ENCRYPTION_KEYS differs from the key of that name that sealed this"
                " database. Set the original key."
            ) from None
    if ring is not None and not proofs and not ring.accepts_plain and await store._read(encryption.has_content):
        raise StartupError(
            "The database holds content that is not encrypted, and an encryption key is set. Stop every server and run"
            " `runyard keys rotate-encryption` to seal it, then start again."
        )
    if ring is not None and ring.writer.id not in proofs:
        await record_key(store, ring)


async def record_key(store: SqlStore, ring: "KeyRing") -> None:
    proof = ring.seal(b"runyard", _SCOPE, ring.writer.id)
    await store._write("other", encryption.insert_key, ring.writer.id, proof)
