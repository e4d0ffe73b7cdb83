"""Settings of uploaded files."""

import re
from typing import Annotated

from runyard.settings.model import SettingsGroup, setting
from runyard.settings.values import Count, Seconds

_TYPES = re.compile(r"\*/\*|[a-z0-9.+-]+/(\*|[a-z0-9.+-]+)")


def _checked_types(given: str) -> str:
    if not all(_TYPES.fullmatch(each.strip().lower()) for each in given.split(",")):
        raise ValueError("must be media types such as image/*,application/pdf, separated by commas")
    return given


def _checked_store(url: str | None) -> str | None:
    scheme, _, rest = (url or "").partition("://")
    if url is not None and (
        scheme not in ("file", "s3", "gs", "az") or not rest or (scheme == "file" and rest[0] != "/")
    ):
        raise ValueError("must be file:///folder, s3://bucket/prefix, gs://bucket/prefix or az://container/prefix")
    return url


class FileSettings(SettingsGroup):
    file_store: Annotated[str | None, _checked_store] = setting(
        default=None,
        description="An object store for the bytes of files: `file:///folder`, `s3://bucket/prefix`,"
        " `gs://bucket/prefix` or `az://container/prefix`; by default they are in the database.",
    )
    max_file_bytes: Count = setting(default=52_428_800, description="The largest file that is accepted.")
    file_types: Annotated[str, _checked_types] = setting(
        default="*/*",
        description="The media types of files that are accepted, separated by commas, such as"
        " `image/*,application/pdf`.",
    )
    unused_file_seconds: Seconds = setting(
        default=86_400,
        description="Seconds after which a file is deleted that no message and no run has referred to.",
    )
    stale_upload_seconds: Seconds = setting(
        default=600, description="Seconds without new bytes before an upload counts as failed and is deleted."
    )
