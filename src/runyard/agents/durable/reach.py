"""Whether a function can get at an object: by an argument bound to it, by what it closes over, or by its own instance.

A recorded step is not called again, so the text that it wrote must be taken from the log; the text of a neighbour that
runs beside it must not. The log does not tell the two apart, but only a function that has the context can write. A
global variable is not looked at.
"""

from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType

_DEPTH = 4


def reaches(value: object, target: object, depth: int = _DEPTH) -> bool:
    if value is target:
        return True
    return depth > 0 and any(reaches(inner, target, depth - 1) for inner in _inside(value))


def _inside(value: object) -> list[object]:
    match value:
        case partial():
            return [value.func, *value.args, *value.keywords.values()]
        case MethodType():
            return [value.__self__, value.__func__, *getattr(value.__self__, "__dict__", {}).values()]
        case FunctionType():
            return [*(value.__defaults__ or ()), *_closed_over(value)]
        case _:
            return []


def _closed_over(fn: FunctionType) -> list[object]:
    found = []
    for cell in fn.__closure__ or ():
        with suppress(ValueError):  # not filled yet
            found.append(cell.cell_contents)
    return found
