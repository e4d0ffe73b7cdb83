"""The check at the start: a process opens a database only if it has every key that sealed something in it.

Each key leaves a proof when it is first used here, so that a wrong key under a known name is found as well. To be
refused at the start is better than to fail at the first old conversation.
"""

from typing import TYPE_CHECKING

from runyard.errors import StartupError, Unreadable
from runyard.stores.sql_store import SqlStore
from runyard.stores.transactions import encryption

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing

_SCOPE = "encryption_keys"


async def check(store: SqlStore, ring: "KeyRing | None") -> None:
    """StartupError, in one sentence, if a key is missing or wrong; else note the key that seals from now on."""
    proofs = await store._read(encryption.keys)
    for key_id, proof in proofs.items():
        if ring is None or key_id not in ring.keys:
            raise StartupError(
                f"The database holds content that was sealed with the key {key_id!r}, which is not in"
                " RUNYARD_ENCRYPTION_KEYS; add it, at the end if another one is to seal."
            )
        try:
            ring.open(proof, _SCOPE, key_id)
        except Unreadable:
            raise StartupError(
                f"The key {key_id!r} in RUNYARD_ENCRYPTION_KEYS is not the one of that name that this database was"
                " sealed with."
            ) from None
    if ring is not None and not proofs and not ring.accepts_plain and await store._read(encryption.has_content):
        raise StartupError(
            "The database holds content that was stored before there was an encryption key. Stop every server and run"
            " `runyard keys rotate-encryption` to seal it, then start again."
        )
    if ring is not None and ring.writer.id not in proofs:
        await record_key(store, ring)


async def record_key(store: SqlStore, ring: "KeyRing") -> None:
    proof = ring.seal(b"runyard", _SCOPE, ring.writer.id)
    await store._write("other", encryption.insert_key, ring.writer.id, proof)
