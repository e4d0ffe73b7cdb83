"""A server without keys answers this machine, but no foreign web page that is open on it."""

from typing import Any

import pytest

from runyard.errors import StartupError
from runyard.settings import Settings
from runyard.web.loopback import LoopbackOnly, is_loopback


@pytest.mark.parametrize(
    "name",
    [
        "127.0.0.1",
        "127.0.0.1:8000",
        "127.9.9.9",
        "localhost",
        "LOCALHOST:80",
        "app.localhost",
        "[::1]",
        "[::1]:8000",
        "http://localhost:3000",
        "https://127.0.0.1",
        "http://[::1]:5173",
    ],
)
def test_names_of_this_machine(name: str) -> None:
    assert is_loopback(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "null",
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "http://127.0.0.1@evil.example",
        "notlocalhost",
        "0.0.0.0",
        "10.0.0.1",
        "[::]",
        "[::1",
        "localhost:x@evil.example",
        "file://",
        "\xff",
    ],
)
def test_names_of_other_hosts(name: str) -> None:
    assert not is_loopback(name)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(b"host", b"localhost:8000")], 200),
        ([(b"host", b"localhost:8000"), (b"origin", b"http://localhost:8000")], 200),
        ([(b"host", b"localhost"), (b"origin", b"http://localhost:80")], 200),
        ([(b"host", b"[::1]:8000"), (b"origin", b"http://[::1]:8000")], 200),
        ([(b"host", b"localhost:8000"), (b"origin", b"http://localhost:5173")], 200),
        ([(b"host", b"localhost:8000"), (b"origin", b"http://localhost:3000")], 403),
        ([(b"host", b"localhost:8000"), (b"origin", b"http://127.0.0.1:8000")], 403),
        ([(b"host", b"localhost:8000"), (b"origin", b"https://localhost:8000")], 403),
        ([(b"host", b"localhost:8000"), (b"origin", b"http://localhost:8000.evil.example")], 403),
        ([(b"origin", b"http://localhost:8000")], 403),
        ([(b"host", b"localhost:8000"), (b"origin", b"null")], 403),
        ([(b"host", b"localhost:8000"), (b"origin", b"https://evil.example")], 403),
        ([(b"host", b"evil.example")], 403),
        ([(b"host", b"localhost"), (b"host", b"evil.example")], 403),
    ],
)
async def test_every_name_that_a_request_gives_counts(headers: list[tuple[bytes, bytes]], status: int) -> None:
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("the body must not be read")

    await LoopbackOnly(app, ["http://localhost:5173"])(
        {"type": "http", "method": "POST", "path": "/", "headers": headers}, receive, send
    )
    assert sent[0]["status"] == status
    assert not any(b"evil" in message.get("body", b"") for message in sent)


def test_a_setting_names_further_origins_and_refuses_what_is_none() -> None:
    assert Settings(dev_origins="http://localhost:5173, https://app.example").origins == [
        "http://localhost:5173",
        "https://app.example",
    ]
    for wrong in ("*", "localhost:5173", "http://localhost:5173/", "http://a@b"):
        with pytest.raises(StartupError, match="origins such as"):
            Settings(dev_origins=wrong)
