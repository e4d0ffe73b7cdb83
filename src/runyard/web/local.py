"""A server that needs no key answers this machine alone, and not the web pages that somebody has open on it.

A page from elsewhere can make a browser send requests to a loopback address: as they are (then `Origin` names the
page), or under a name of its own that it lets point there (then `Host` does). Neither has to be trusted to be used.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.web.problems import Problem

ADVICE = "Without API keys this server answers only to a loopback address; start it with `runyard serve`."


class LocalOnly:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = [value for name, value in scope.get("headers", ()) if name in (b"host", b"origin")]
        if all(is_loopback(value.decode("latin-1")) for value in told):
            await self._app(scope, receive, send)
        else:
            await Problem(403, "not_local", ADVICE)(scope, receive, send)


def is_loopback(given: str) -> bool:
    """Whether a Host or an Origin names this machine."""
    try:
        host = urlsplit(given if "://" in given else f"//{given}").hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False
