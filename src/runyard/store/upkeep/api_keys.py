"""API keys."""

from collections.abc import Sequence
from typing import Protocol

from runyard.domain.api_key import ApiKey


class ApiKeyStore(Protocol):
    async def create_api_key(self, key: ApiKey) -> None:
        """Store a new key. Ids are never reused."""

    async def get_api_key(self, key_id: str) -> ApiKey:
        """Return a key, even if it is revoked or expired; NotFound if there is none."""

    async def list_api_keys(self, owner: str | None, before: str | None, limit: int) -> Sequence[ApiKey]:
        """Return the keys of an owner, or of all owners, older than the key `before`, newest first."""

    async def revoke_api_key(self, key_id: str) -> ApiKey:
        """Revoke a key and return it. Revoking again keeps the first revocation time. NotFound if there is none."""

    async def touch_api_keys(self, key_ids: Sequence[str], quiet_ms: int) -> None:
        """Record that these keys are in use, except those recorded less than `quiet_ms` ago. Unknown ids are
        ignored."""
