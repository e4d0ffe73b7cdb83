"""The routes of files: upload and download, streamed."""

from urllib.parse import quote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from runyard.domain.content.file import INLINE_TYPES, StoredFile
from runyard.domain.times import iso
from runyard.engine.queries.views import checked_id
from runyard.errors import Invalid, NotFound
from runyard.faces.native import wire
from runyard.web.auth import owner_of
from runyard.web.body import UPLOAD
from runyard.web.context import engine_of
from runyard.web.responses import Json
from runyard.web.routing import Router
from runyard.web.streaming.sse import ABORT

SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, max-age=31536000, immutable",
}
NAME = {"name": "name", "in": "query", "required": True, "schema": {"type": "string", "minLength": 1}}

router = Router("native")


@router.fast(
    "POST", UPLOAD, binary="request", status_code=201, response_model=wire.FileRow, parameters=[NAME], takes_key=False
)
async def upload(request: Request) -> Response:
    """Upload a file. The body is its bytes, Content-Type its type.

    The file is deleted if no message and no run refers to it within a day (`RUNYARD_UNUSED_FILE_SECONDS`)."""
    owner, name = await owner_of(request), request.query_params.get("name", "")
    if not name:
        raise Invalid("The query parameter `name` is missing. Send the name of the file.")
    kind = request.headers.get("content-type", "")
    return Json(row(await engine_of(request).files.upload(owner, name, kind, request.stream())), 201)


@router.fast("GET", UPLOAD + "/{file_id}", binary="response", parameters=(), statuses=(304,))
async def download(request: Request) -> Response:
    """Download a file. Only images are shown by browsers; other types are attachments."""
    files = engine_of(request).files
    file = await files.get(await owner_of(request), checked_id(request.path_params["file_id"], "file"))
    tag = f'"{file.id}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={**SAFE_HEADERS, "ETag": tag})
    is_inline = file.type in INLINE_TYPES
    shown = "inline" if is_inline else "attachment"
    headers = {
        **SAFE_HEADERS,
        "ETag": tag,
        "Content-Type": file.type if is_inline else "application/octet-stream",
        "Content-Disposition": f"{shown}; filename*=UTF-8''{quote(file.name, safe='')}",
        "Content-Length": str(file.size),
    }
    return Download(files.chunks(file), headers=headers)


class Download(StreamingResponse):
    """The bytes of a file. If it is deleted meanwhile, the connection is cut, so that the client notices."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except NotFound:
            if ABORT in scope:
                scope[ABORT]()
        except ClientDisconnect:
            pass


def row(file: StoredFile) -> wire.FileRow:
    return wire.FileRow(
        file_id=file.id, name=file.name, type=file.type, size=file.size, created_at=iso(file.created_at) or ""
    )
