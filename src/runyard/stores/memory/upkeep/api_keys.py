"""API keys. A revoked key stays stored, and stays revoked."""

from collections.abc import Sequence

from msgspec.structs import replace

from runyard.domain.api_key import ApiKey
from runyard.errors import NotFound
from runyard.stores.memory.rows import Rows


class ApiKeys(Rows):
    async def create_api_key(self, key: ApiKey) -> None:
        self._api_keys[key.id] = key

    async def get_api_key(self, key_id: str) -> ApiKey:
        return self._api_key(key_id)

    def _api_key(self, key_id: str) -> ApiKey:
        if key_id not in self._api_keys:
            raise NotFound("There is no API key with that id.")
        return self._api_keys[key_id]

    async def list_api_keys(self, owner: str | None, before: str | None, limit: int) -> Sequence[ApiKey]:
        ours = [key for key in self._api_keys.values() if owner in (None, key.owner)]
        if before is not None:
            last = self._api_keys.get(before)
            ours = [key for key in ours if last is not None and _age(key) < _age(last)]
        return sorted(ours, key=_age, reverse=True)[:limit]

    async def revoke_api_key(self, key_id: str) -> ApiKey:
        key = self._api_key(key_id)
        if key.revoked_at is None:
            key = self._api_keys[key_id] = replace(key, revoked_at=self._now())
        return key

    async def touch_api_keys(self, key_ids: Sequence[str], quiet_ms: int) -> None:
        now = self._now()
        for key in [self._api_keys[each] for each in key_ids if each in self._api_keys]:
            if key.last_used_at is None or key.last_used_at <= now - quiet_ms:
                self._api_keys[key.id] = replace(key, last_used_at=now)


def _age(key: ApiKey) -> tuple[int, str]:
    return key.created_at, key.id
