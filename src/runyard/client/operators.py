"""The calls of the client for operators: the overview and API keys."""

from collections.abc import AsyncGenerator, Sequence

from runyard.client.connection import Connection, given, segment
from runyard.client.pages import PAGE, pages
from runyard.client.wire import KeyInfo, OverviewInfo, read


class OperatorCalls:
    """The part of `Client` that needs the scope `operate`."""

    _connection: Connection

    async def overview(self) -> OverviewInfo:
        """Return the queue, the workers and the health of the installation. Needs the scope `operate`.

        Example:
            >>> (await client.overview()).queued
            0
        """
        return read(await self._connection.send("GET", "/api/overview"), OverviewInfo)

    async def create_key(
        self, owner: str, *, label: str = "", scopes: Sequence[str] | None = None, expires_in: int | None = None
    ) -> KeyInfo:
        """Create an API key. Only this response holds the key itself. Needs the scope `operate`.

        Args:
            owner: The owner whose objects the key may use.
            label: A name for people.
            scopes: What the key may do. The default is to read, write and approve.
            expires_in: The seconds for which the key is valid. The default is for ever.

        Raises:
            Invalid: If a scope is unknown.

        Example:
            >>> key = await client.create_key("ada", label="laptop", scopes=["read"], expires_in=3600)
            >>> key.scopes
            ['read']
        """
        body = given({"owner": owner, "label": label, "scopes": scopes, "expires_in": expires_in})
        return read(await self._connection.send("POST", "/api/keys", body, repeatable=False), KeyInfo)

    async def keys(self, *, owner: str | None = None) -> AsyncGenerator[KeyInfo, None]:
        """Return API keys, newest first. Needs the scope `operate`.

        Args:
            owner: Only the keys of this owner.

        Example:
            >>> key = await client.create_key("ada")
            >>> key.key_id in [each.key_id async for each in client.keys(owner="ada")]
            True
        """
        async for page in pages(self._connection, "/api/keys", given({"owner": owner}), PAGE):
            for key in page.keys:
                yield key

    async def revoke_key(self, key_id: str) -> KeyInfo:
        """Revoke an API key. Needs the scope `operate`.

        Args:
            key_id: The id of the key.

        Example:
            >>> key = await client.create_key("ada")
            >>> (await client.revoke_key(key.key_id)).revoked_at is None
            False
        """
        return read(await self._connection.send("DELETE", f"/api/keys/{segment(key_id)}"), KeyInfo)
