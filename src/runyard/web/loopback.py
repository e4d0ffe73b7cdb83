"""Restricts a server without API keys to clients on this machine, and keeps foreign web pages out.

A web page can make a browser send requests to a loopback address: directly (`Origin` then names the page), or under a
host name that the page's owner points there (`Host` then has that name). Pages of other programs on this machine are
foreign too. So `Host` must be a loopback name, and `Origin`, if present, must be the origin that `Host` names.
`RUNYARD_DEV_ORIGINS` allows further origins.
"""

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.web.errors.problems import Problem

ADVICE = "A server without API keys accepts only loopback hosts. To serve others, start it with `runyard serve`."
FOREIGN = "A server without API keys accepts only pages of its own origin. Add others to RUNYARD_DEV_ORIGINS."
PORTS = {"http": 80, "https": 443}


class LoopbackOnly:
    """Refuses other hosts and origins. `origins` are further allowed origins, such as `http://localhost:5173`."""

    def __init__(self, app: ASGIApp, origins: Collection[str] = ()) -> None:
        self._app = app
        self._origins = {origin_of(each) for each in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value.decode("latin-1")) for name, value in scope.get("headers", ())]
        hosts = [value for name, value in headers if name == b"host"]
        if not all(is_loopback(host) for host in hosts):
            await Problem(403, "not_local", ADVICE)(scope, receive, send)
            return
        allowed = self._origins | {origin_of(f"http://{host}") for host in hosts[:1]}
        if all(origin_of(value) in allowed - {None} for name, value in headers if name == b"origin"):
            await self._app(scope, receive, send)
        else:
            await Problem(403, "foreign_origin", FOREIGN)(scope, receive, send)


def is_loopback(given: str) -> bool:
    """Tell whether a Host or an Origin is a loopback name or address."""
    try:
        host = urlsplit(given if "://" in given else f"//{given}").hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def origin_of(given: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port of an origin, or None if it is invalid or `null`."""
    try:
        parts = urlsplit(given.strip().lower())
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None
    if parts.scheme not in PORTS or not parts.hostname or port is None or parts.username is not None:
        return None
    return parts.scheme, parts.hostname, port
