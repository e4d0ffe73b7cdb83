"""docs/settings.md: every setting, its variable, its default and what it is for, from the model itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from runyard.settings import OTHER_VARIABLES, Settings, variable
from runyard.settings.model import Setting
from scripts.tables.page import Page

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
    rows = [_row(name, field) for name, field in Settings.fields.items()]
    others = [f"| `{name}` | {what} |" for name, what in OTHER_VARIABLES.items()]
    return "\n".join([_HEADER, *rows, _FOOTER, *others]) + "\n"


def _row(name: str, field: Setting) -> str:
    return f"| `{variable(name)}` | `{name}` | {_kind(field.kind)} | {_default(field)} | {field.description} |"


KINDS: dict[Any, str] = {
    bool: "`true`, `false`",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
}


def _kind(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if get_origin(kind) is dict:
        return "table of texts"
    return KINDS[kind]


def _default(field: Setting) -> str:
    if field.default_factory is not None:
        return f"`{field.default_for({each.name: each.default for each in Settings.fields.values()})}`"
    return f"`{field.default}`" if field.default not in (None, {}) else ""


PAGE = Page("settings.md", lambda _: render())
