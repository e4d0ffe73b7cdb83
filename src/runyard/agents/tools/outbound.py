"""HTTP calls to other servers: only to public addresses, unless the app allows a network.

A server that a user or a model names must not be one that only this machine can reach: loopback, private and link-local
networks, the cloud's metadata service. We resolve a host name, check every address, and connect to the checked address,
so a name that resolves differently the second time gains nothing. The certificate is still checked against the name.
Redirects are not followed, and proxies from the environment are not used.

Use one client per server: connections are pooled by address.
"""

import asyncio
import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpx2

from runyard.errors import Invalid, ToolError

_NAT64 = ip_network("64:ff9b::/96")
Address = IPv4Address | IPv6Address


class OutboundRefused(ToolError):
    """The address is private or local, and the declaration does not allow it. Add `allow=["10.0.0.0/8"]`, with the
    network of the address, to `runyard.remote(...)` or to the MCP server."""

    code = "outbound_refused"


class Allowed:
    """The addresses that may be called: public ones, and those of the given networks (`10.0.0.0/8`, `::1`)."""

    def __init__(self, networks: Sequence[str] = ()) -> None:
        try:
            self._networks: list[IPv4Network | IPv6Network] = [ip_network(network) for network in networks]
        except ValueError:
            raise Invalid('`allow` is a list of networks, such as "10.0.0.0/8" or "127.0.0.1".') from None

    def permits(self, address: Address) -> bool:
        judged = _inner(address)
        if any(one in network for one in (address, judged) for network in self._networks):
            return True
        return all(one.is_global and not one.is_multicast for one in (address, judged))

    async def check(self, url: str) -> None:
        """Raise OutboundRefused if the URL may not be called. Names that do not resolve are ignored."""
        parts = httpx2.URL(url)
        with suppress(OSError):
            await self.address_of(parts.host, parts.port or 443)

    async def address_of(self, host: str, port: int) -> str:
        """Return an address of the host that may be called. Raise OutboundRefused if there is none."""
        try:
            found: list[Address] = [ip_address(host.strip("[]"))]
        except ValueError:
            loop = asyncio.get_running_loop()
            entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found = [ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
        for address in found:
            if self.permits(address):
                return str(address)
        raise OutboundRefused


def _inner(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address embeds, otherwise the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, address))[1]


@cache
def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates. Loaded once, because that takes longer than a call."""
    return httpx2.create_ssl_context(trust_env=False)


class OutboundTransport(httpx2.AsyncBaseTransport):
    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed
        self._inner = httpx2.AsyncHTTPTransport(verify=_certificates(), trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        try:
            address = await self._allowed.address_of(url.host, url.port or (443 if url.scheme == "https" else 80))
        except socket.gaierror:
            raise httpx2.ConnectError("The host has no address.", request=request) from None
        # the Host header and the certificate check keep the name; only the connection uses the address
        request.url = url.copy_with(host=address)
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        try:
            return await self._inner.handle_async_request(request)
        finally:
            request.url = url

    async def aclose(self) -> None:
        await self._inner.aclose()


def outbound_client(
    allowed: Allowed, *, headers: Mapping[str, str] | None = None, timeout: httpx2.Timeout | None = None
) -> httpx2.AsyncClient:
    """Return an HTTP client that calls only allowed addresses."""
    transport = OutboundTransport(allowed)
    return httpx2.AsyncClient(
        transport=transport, headers=dict(headers or {}), timeout=timeout or 30, trust_env=False, follow_redirects=False
    )
