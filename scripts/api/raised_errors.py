"""The errors of `runyard.errors` that a public name raises, read off its source: its body, and what its body calls.

Calls of Runyard's functions by name, and of the methods of `self` and its annotated fields, are followed. Calls of
constructors and of other objects are not.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, get_type_hints

from runyard.agents.tools.tool import Tool
from runyard.errors import RunyardError
from scripts.api.public_api import Public

Error = type[RunyardError]


def errors_raised_by(of: Public) -> set[Error]:
    """Return the errors that the function, or the constructor of the class, raises."""
    value = of.value.fn if isinstance(of.value, Tool) else of.value
    seen: set[Callable[..., Any]] = set()
    if isinstance(value, type):
        return {error for start in _constructors(value) for error in _errors(start, value, seen)}
    return set(_errors(value, of.owner, seen))


def _constructors(kind: type) -> Iterator[Callable[..., Any]]:
    for name in ("__init__", "__post_init__"):
        found = getattr(kind, name, None)
        if inspect.isfunction(found):
            yield found


def _errors(function: Callable[..., Any], owner: type | None, seen: set[Callable[..., Any]]) -> Iterator[Error]:
    function = inspect.unwrap(function)
    if function in seen:
        return
    seen.add(function)
    known = function.__globals__
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    caught = _caught(tree, known)
    for error in (found for node in ast.walk(tree) for found in _in(node, known, owner, seen)):
        if not issubclass(error, tuple(caught)):
            yield error


def _in(node: ast.AST, known: dict[str, Any], owner: type | None, seen: set[Callable[..., Any]]) -> Iterator[Error]:
    if isinstance(node, ast.Raise) and node.exc is not None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        found = known.get(raised.id) if isinstance(raised, ast.Name) else None
        if isinstance(found, type) and issubclass(found, RunyardError):
            yield found
    if isinstance(node, ast.Call):
        called, its_owner = _called(node.func, known, owner)
        if called is not None:
            yield from _errors(called, its_owner, seen)


def _called(node: ast.expr, known: dict[str, Any], owner: type | None) -> tuple[Callable[..., Any] | None, type | None]:
    """Return the function of Runyard that a call names, and the class that it belongs to."""
    if isinstance(node, ast.Name):
        found = known.get(node.id)
        return (found, None) if _is_ours(found) else (None, None)
    if isinstance(node, ast.Attribute) and (kind := _type_of(node.value, owner)) is not None:
        found = getattr(kind, node.attr, None)
        return (found, kind) if _is_ours(found) else (None, None)
    return None, None


def _type_of(node: ast.expr, owner: type | None) -> type | None:
    """Return the class of `self`, or of its field or property, which has an annotation."""
    if isinstance(node, ast.Name):
        return owner if node.id == "self" else None
    if not isinstance(node, ast.Attribute) or (kind := _type_of(node.value, owner)) is None:
        return None
    found = inspect.getattr_static(kind, node.attr, None)
    getter = found.fget if isinstance(found, property) else getattr(found, "func", None)
    with suppress(NameError):  # of a name that is imported for type checkers only
        hint = get_type_hints(kind).get(node.attr) if getter is None else get_type_hints(getter).get("return")
        return hint if isinstance(hint, type) and hint.__module__.startswith("runyard.") else None
    return None


def _is_ours(value: object) -> bool:
    return inspect.isfunction(value) and value.__module__.startswith("runyard.")


def _caught(tree: ast.AST, known: dict[str, Any]) -> set[type]:
    """Return the errors that the function catches and does not raise again."""
    return {
        found
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and not any(isinstance(inner, ast.Raise) and inner.exc is None for inner in ast.walk(node))
        for name in ast.walk(node.type or ast.Tuple([]))
        if isinstance(name, ast.Name)
        for found in [known.get(name.id)]
        if isinstance(found, type)
    }
