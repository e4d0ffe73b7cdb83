"""Serves the web page: the files that `make page` builds from `ui/`. They are public; the requests of the page need a
key.

Names of assets change with their content, so browsers cache them forever; `/` is revalidated every time. The policy
lets the page load from and talk to this server only, and run only scripts that are files of this server. Without a
build, `/` says how to build the page.
"""

import mimetypes
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from runyard.errors import NotFound
from runyard.web.access_log import ROUTE

INDEX, ASSET = "/", "/assets/{name}"
BUILT = Path(__file__).with_name("built")
MISSING = "The page is not built. Run `make page`; the API works without it.\n"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",  # pictures that were read with the API key
        "connect-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "form-action 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex",
}
FOR_EVER = {**HEADERS, "Cache-Control": "public, max-age=31536000, immutable"}
EVERY_TIME = {**HEADERS, "Cache-Control": "no-cache"}


class Asset(NamedTuple):
    body: bytes
    media_type: str


def add_routes(router: APIRouter) -> None:
    """Read the files once, so that files of two builds never mix, and add their routes."""
    built = read(BUILT)

    async def index(request: Request) -> Response:
        request.scope[ROUTE] = INDEX
        page = built.get("index.html")
        if page is None:
            return Response(MISSING, headers=EVERY_TIME, media_type="text/plain")
        return Response(page.body, headers=EVERY_TIME, media_type="text/html")

    async def asset(request: Request) -> Response:
        request.scope[ROUTE] = ASSET
        found = built.get(f"assets/{request.path_params['name']}")
        if found is None:
            raise NotFound("There is no such file. Reload the page.")
        return Response(found.body, headers=FOR_EVER, media_type=found.media_type)

    for path, handler in ((INDEX, index), (ASSET, asset)):
        route = Route(path, handler, methods=["GET"])
        route.methods = {"GET"}  # Starlette adds HEAD to every GET
        router.routes.append(route)


def read(folder: Path) -> dict[str, Asset]:
    """Return the files of a build by path, or an empty dictionary without a build."""
    if not (folder / "index.html").is_file():
        return {}
    return {
        path.relative_to(folder).as_posix(): Asset(path.read_bytes(), _media_type(path.name))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _media_type(name: str) -> str:
    known = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
    return known.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
