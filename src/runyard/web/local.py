"""A server that needs no key answers this machine alone, and not the web pages that are open on it.

A page from elsewhere can make a browser send requests to a loopback address: as they are (then `Origin` names the
page), or under a name of its own that it lets point there (then `Host` does). A page of another program on this machine
is from elsewhere too. So `Host` must be a loopback name, and `Origin`, if there is one, must be this server's own: the
one that `Host` names. Other origins are allowed by name (`RUNYARD_DEV_ORIGINS`).
"""

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.web.problems import Problem

ADVICE = "Without API keys this server answers only to a loopback address; start it with `runyard serve`."
FOREIGN = "Without API keys this server answers only pages of its own origin; name others in RUNYARD_DEV_ORIGINS."
PORTS = {"http": 80, "https": 443}


class LocalOnly:
    """`origins`: further origins whose pages may use this server, such as `http://localhost:5173`."""

    def __init__(self, app: ASGIApp, origins: Collection[str] = ()) -> None:
        self._app = app
        self._origins = {origin_of(each) for each in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = [(name, value.decode("latin-1")) for name, value in scope.get("headers", ())]
        hosts = [value for name, value in told if name == b"host"]
        if not all(is_loopback(host) for host in hosts):
            await Problem(403, "not_local", ADVICE)(scope, receive, send)
            return
        allowed = self._origins | {origin_of(f"http://{host}") for host in hosts[:1]}
        if all(origin_of(value) in allowed - {None} for name, value in told if name == b"origin"):
            await self._app(scope, receive, send)
        else:
            await Problem(403, "foreign_origin", FOREIGN)(scope, receive, send)


def is_loopback(given: str) -> bool:
    """Whether a Host or an Origin names this machine."""
    try:
        host = urlsplit(given if "://" in given else f"//{given}").hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def origin_of(given: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an origin; None for what is none, such as `null`."""
    try:
        parts = urlsplit(given.strip().lower())
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None
    if parts.scheme not in PORTS or not parts.hostname or port is None or parts.username is not None:
        return None
    return parts.scheme, parts.hostname, port
