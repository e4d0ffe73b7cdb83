"""Outbound calls go only to public addresses, and exactly to the address that was checked."""

import asyncio
import socket
from ipaddress import ip_address
from typing import Any

import httpx2
import pytest

from runyard.agents.tools.outbound import Allowed, OutboundRefused, outbound_client
from runyard.errors import Invalid


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "::",
        "::1",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "2002:a00:1::1",
    ],
)
async def test_private_and_local_addresses_are_refused(address: str) -> None:
    allowed = Allowed()
    assert not allowed.permits(ip_address(address))
    with pytest.raises(OutboundRefused):
        await allowed.address_of(address, 80)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert Allowed().permits(ip_address(address))


def test_a_network_can_be_allowed() -> None:
    allowed = Allowed(["10.0.0.0/8", "::1"])
    assert allowed.permits(ip_address("10.9.8.7"))
    assert allowed.permits(ip_address("::ffff:10.9.8.7"))
    assert allowed.permits(ip_address("::1"))
    assert not allowed.permits(ip_address("127.0.0.1"))
    with pytest.raises(Invalid, match="networks"):
        Allowed(["example.com"])


async def _server(heard: list[bytes]) -> asyncio.Server:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        target = b"http://127.0.0.1:%d/there" % writer.get_extra_info("sockname")[1]
        writer.write(b"HTTP/1.1 307 Go\r\nLocation: " + target + b"\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", 0)


async def test_a_name_is_resolved_once_and_the_checked_address_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that resolves differently the second time, as in DNS rebinding."""
    heard: list[bytes] = []
    answers = ["127.0.0.1", "127.0.0.2"]

    async def look_up(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]

    server = await _server(heard)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
    async with server, outbound_client(Allowed(["127.0.0.1"])) as client:
        answer = await client.get(f"http://rebind.test:{port}/here")
    assert answer.status_code == 307, "and a redirect is not followed"
    assert len(heard) == 1
    assert f"Host: rebind.test:{port}".lower() in heard[0].decode().lower()
    assert answers == ["127.0.0.2"]


async def test_a_name_with_a_private_address_is_refused_before_anything_is_sent() -> None:
    heard: list[bytes] = []
    server = await _server(heard)
    port = server.sockets[0].getsockname()[1]
    async with server, outbound_client(Allowed()) as client:
        for host in ("localhost", "127.0.0.1", "[::1]", "0x7f.1", "2130706433"):
            with pytest.raises((OutboundRefused, httpx2.ConnectError)):
                await client.get(f"http://{host}:{port}/")
    assert heard == []


async def test_a_proxy_from_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[bytes] = []
    server = await _server(heard)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{port}")
    async with server, outbound_client(Allowed()) as client:
        with pytest.raises(OutboundRefused):
            await client.get("http://169.254.169.254/latest/meta-data")
    assert heard == []
