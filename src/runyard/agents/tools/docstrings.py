"""Read a tool's docstring: its first paragraph, and the description of each argument.

Arguments are read from the three usual formats: `Args:` with `name: text` below it, `:param name: text`, and an
underlined `Parameters` with `name : type` and indented text. Other formats are ignored.
"""

import inspect
import re

_HEADING = re.compile(r"(?:args|arguments|parameters):", re.IGNORECASE)
_ENTRY = re.compile(r"(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_FIELD = re.compile(r":param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)")
_NUMPY_ENTRY = re.compile(r"(\w+)\s*(?::.*)?")


def read(doc: str | None) -> tuple[str, dict[str, str]]:
    """Return the description, and the descriptions of the arguments by name."""
    lines = inspect.cleandoc(doc or "").splitlines()
    return _first_paragraph(lines), {name: text for name, text in _arguments(lines).items() if text}


def _first_paragraph(lines: list[str]) -> str:
    found: list[str] = []
    for line in lines:
        if not line.strip() or _HEADING.fullmatch(line.strip()) or _FIELD.match(line.strip()):
            break
        found.append(line.strip())
    return " ".join(found)


def _arguments(lines: list[str]) -> dict[str, str]:
    for number, line in enumerate(lines):
        if _HEADING.fullmatch(line.strip()):
            return _indented(lines[number + 1 :])
        if line.strip() == "Parameters" and set("".join(lines[number + 1 : number + 2]).strip()) == {"-"}:
            return _underlined(lines[number + 2 :])
    return _fields(lines)


def _indented(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    margin, name = None, ""
    for line in lines:
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        margin = indent if margin is None else margin
        if indent < margin or indent == 0:
            break
        entry = _ENTRY.fullmatch(line.strip()) if indent == margin else None
        if entry:
            name = entry[1]
            found[name] = entry[2]
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _underlined(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        if not line.strip() and not name:
            break
        if line.strip() and not line[0].isspace():
            entry = _NUMPY_ENTRY.fullmatch(line.strip())
            if not entry or set(line.strip()) == {"-"}:
                break
            name = entry[1]
            found[name] = ""
        elif line.strip() and name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _fields(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in (line.strip() for line in lines):
        entry = _FIELD.fullmatch(line)
        if entry:
            name = entry[1]
            found[name] = entry[2]
        elif line.startswith(":") or not line:
            name = ""
        elif name:
            found[name] = f"{found[name]} {line}"
    return found
