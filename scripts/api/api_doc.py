"""docs/api.md: every public name with its signature, arguments, errors and example, from the docstrings."""

from __future__ import annotations

import inspect
import re
import textwrap
import typing
from collections.abc import Iterator

from runyard.agents.tools.tool import Tool
from runyard.errors import RunyardError
from scripts.api.public_api import MODULES, Public, documentation, members, names
from scripts.tables.page import Page

_HEADER = """# The Python API

Made by `make docs` from the docstrings of `src/runyard`; do not edit.

The public names are those of `runyard` and `runyard.testing`. `runyard.errors` has every error. Tests run all examples
on this page. The examples begin with:

```python
import asyncio
import runyard
from runyard.testing import Decision, MemoryStore, run_agent, run_agent_sync
```

Examples with `await` outside a function can be typed into `python -m asyncio`. The methods of `Client` have a `client`
of a server. The ids in them are those of objects on it: in the thread `thread_id`, the run `run_id` of the agent
`greeter` answered "Ada" with "Hello Ada".
"""
_ERRORS = """## Errors

Every error is a `runyard.RunyardError` with a `code` and a `message`. The errors below are public names.
`runyard.errors` has the others.

| error | code | is a | default message |
|---|---|---|---|"""
_WITHOUT_SIGNATURE = {"Settings", "MemoryStore"}
_SECTION = re.compile(r"(Args|Returns|Raises|Example):")
_ENTRY = re.compile(r"(\w+): (.*)")
_SHORTER = [
    (re.compile(r"\b(?:runyard|collections|typing|fastapi|msgspec|httpx2|pathlib|_?contextlib)(?:\.\w+)*\."), ""),
    (re.compile(r"'([A-Z]\w+)'"), r"\1"),
    (re.compile(r"ForwardRef\((\w+)\)"), r"\1"),
    (re.compile(r"<function (\w+) at 0x[0-9a-f]+>"), r"\1"),
    (re.compile(r"[~+](\w+)"), r"\1"),
    (re.compile(r"\*<class (\w+)>"), r"\1"),
]


def render() -> str:
    """The whole of docs/api.md."""
    public = list(names())
    parts = [_HEADER, _index(public)]
    for module in MODULES:
        parts.append(f"## `{module}`\n")
        parts += [_entry(one) for one in public if one.module == module and not one.is_error]
    parts.append(_ERRORS)
    parts += [_error(one.value) for one in public if one.is_error]
    return "\n".join(parts) + "\n"


def _index(public: list[Public]) -> str:
    rows = ["| name | what it is |", "|---|---|"]
    taken: list[str] = []
    for one in public:
        if not one.is_error:
            anchor = re.sub(r"[^a-z0-9_-]", "", one.label.lower())
            number = taken.count(anchor)  # of the headings that differ in case only
            taken.append(anchor)
            rows.append(f"| [`{one.label}`](#{anchor}{f'-{number}' if number else ''}) | {_summary(one)} |")
    return "\n".join(rows) + "\n"


def _summary(of: Public) -> str:
    return " ".join(documentation(of).partition("\n\n")[0].split())


def _error(kind: type[RunyardError]) -> str:
    message = " ".join((kind.__doc__ or "").split())
    base = kind.__bases__[0].__name__
    return f"| `{kind.__name__}` | `{kind.code}` | `{base}` | {message} |"


def _entry(of: Public) -> str:
    lines = [f"### `{of.label}`\n", *_signature(of), *body(documentation(of))]
    for member in members(of):
        lines += [f"#### `{member.label}`\n", *_signature(member), *body(documentation(member))]
    return "\n".join(lines)


def _signature(of: Public) -> Iterator[str]:
    if isinstance(of.value, Tool):
        yield f"A tool: `{_shorter(f'{of.name}{inspect.signature(of.value.fn)}')}`\n"
        return
    if of.owner is not None and not _is_method(of):
        found = inspect.formatannotation(inspect.signature(of.value).return_annotation)
        yield f"Property: `{_shorter(found)}`\n"
        return
    if of.name not in _WITHOUT_SIGNATURE:
        shown = [_shown(of.name, one) for one in typing.get_overloads(of.value) or [of.value]]
        yield "\n".join(["```python", *shown, "```\n"])


def _is_method(of: Public) -> bool:
    return inspect.isfunction(inspect.getattr_static(of.owner, of.name))


def _shown(name: str, value: typing.Any) -> str:
    found = inspect.signature(value)
    parameters = [one for one in found.parameters.values() if one.name != "self"]
    returns = inspect.Signature.empty if isinstance(value, type) else found.return_annotation
    word = "async def " if inspect.iscoroutinefunction(value) else "class " if isinstance(value, type) else "def "
    whole = f"{word}{name}{_shorter(str(found.replace(parameters=parameters, return_annotation=returns)))}"
    if len(whole) <= 120:
        return whole
    head, _, tail = whole.partition("(")
    inside, _, end = tail.rpartition(")")
    return "\n".join([f"{head}(", *(f"    {one}," for one in _split(inside)), f"){end}"])


def _split(inside: str) -> list[str]:
    """Split at the commas that no bracket encloses."""
    found, depth = [""], 0
    for character in inside:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [one.strip() for one in found]


def _shorter(text: str) -> str:
    for pattern, by in _SHORTER:
        text = pattern.sub(by, text)
    return text


def body(text: str) -> Iterator[str]:
    """A docstring as Markdown: arguments and errors as lists, the example as code."""
    section = ""
    lines: list[str] = []
    for line in [*text.splitlines(), "End:"]:
        heading = _SECTION.fullmatch(line) or line == "End:"
        if not heading:
            lines.append(line)
            continue
        yield from _part(section, textwrap.dedent("\n".join(lines)).strip())
        section, lines = line.rstrip(":"), []


def _part(section: str, text: str) -> Iterator[str]:
    if not text:
        return
    match section:
        case "":
            yield text + "\n"
        case "Example":
            yield f"```python\n{text}\n```\n"
        case "Returns":
            yield f"Returns: {' '.join(text.split())}\n"
        case _:
            yield f"{'Arguments' if section == 'Args' else section}:\n"
            yield "\n".join(_entries(text)) + "\n"


def _entries(text: str) -> Iterator[str]:
    joined = re.sub(r"\n +", " ", text)
    for line in joined.splitlines():
        entry = _ENTRY.fullmatch(line)
        yield f"- `{entry[1]}`: {entry[2]}" if entry else f"- {line}"


PAGE = Page("api.md", lambda _: render())
