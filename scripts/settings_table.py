"""docs/settings.md: every setting, its variable, its default and what it is for, from the model itself."""

from __future__ import annotations

from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from runyard.settings import OTHER_VARIABLES, Settings, variable
from scripts.page import Page

_HEADER = """# Settings

Made by `make docs` from `src/runyard/settings/`; do not edit.

A setting comes from a command's own option, else from the environment, else from `runyard.toml` in the working folder
(the name in the second column is the key), else it is the default. A name that is not in this table is an error, so a
misspelt setting cannot go unnoticed. An empty variable counts as not set. Kubernetes sets variables for each service of
a namespace (`RUNYARD_SERVICE_HOST`, `RUNYARD_PORT=tcp://...` for a service named `runyard`); these are ignored.

```toml
# runyard.toml
port = 9000
database_url = "postgresql://runyard@db/runyard"
```

| variable | in `runyard.toml` | type | default | meaning |
|---|---|---|---|---|"""

_FOOTER = """
Not settings, but variables the command line reads:

| variable | what it is |
|---|---|"""


def render() -> str:
    """The whole of docs/settings.md."""
    rows = [_row(name, field) for name, field in Settings.model_fields.items()]
    others = [f"| `{name}` | {what} |" for name, what in OTHER_VARIABLES.items()]
    return "\n".join([_HEADER, *rows, _FOOTER, *others]) + "\n"


def _row(name: str, field: FieldInfo) -> str:
    return f"| `{variable(name)}` | `{name}` | {_kind(field.annotation)} | {_default(field)} | {field.description} |"


KINDS: dict[Any, str] = {
    bool: "`true`, `false`",
    int: "whole number",
    float: "number",
    str: "text",
    SecretStr: "text",
    Path: "path",
}


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(annotation))
    if get_origin(annotation) is UnionType:
        annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
    if get_origin(annotation) is dict:
        return "table of texts"
    return KINDS[annotation]


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return f"`{Settings.model_construct().url}`"
    return f"`{field.default}`" if field.default not in (None, {}) else ""


PAGE = Page("settings.md", lambda _: render())
