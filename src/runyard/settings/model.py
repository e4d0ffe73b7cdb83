"""The type of a setting: a typed field with a default, limits and a description, parsed from text or from Python
values.

Not pydantic: importing it takes longer than a command of the command line takes to run (ADR 30). A group of settings is
a class:

    class HttpSettings(SettingsGroup):
        port: int = setting(default=8000, ge=0, le=65535, description="The port to listen on.")

A type is `str`, `int`, `float`, `bool`, `Path`, a `Literal` of texts, `dict[str, str]`, or one of them `| None`.
`Annotated[type, ...]` adds `Limits` and functions that return the checked value or raise ValueError. Text is accepted
for every type, numbers are finite, and a choice may be written in upper or lower case.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    overload,
)

T = TypeVar("T")

YES = frozenset({"true", "1", "yes", "on", "y", "t"})
NO = frozenset({"false", "0", "no", "off", "n", "f"})


class Limits(NamedTuple):
    """Bounds of a number."""

    gt: float | None = None
    ge: float | None = None
    le: float | None = None

    def check(self, value: Any) -> None:
        if self.gt is not None and not value > self.gt:
            raise ValueError(f"must be greater than {self.gt}")
        if self.ge is not None and not value >= self.ge:
            raise ValueError(f"must be greater than or equal to {self.ge}")
        if self.le is not None and not value <= self.le:
            raise ValueError(f"must be less than or equal to {self.le}")


class Setting(NamedTuple):
    """One setting. `kind` is its type without `None` and `Annotated`; `is_shown`: whether a repr shows its value."""

    name: str
    kind: Any
    is_optional: bool
    default: Any
    default_factory: Callable[[Mapping[str, Any]], Any] | None
    description: str
    is_shown: bool
    limits: tuple[Limits, ...]
    checks: tuple[Callable[[Any], Any], ...]

    def parsed(self, value: object) -> Any:
        """Return the checked value. Raise ValueError, with a sentence that begins with `must`, if it is wrong."""
        if value is not None:
            value = _parsed(self.kind, value)
            for limits in self.limits:
                limits.check(value)
        elif not self.is_optional:
            raise ValueError("must have a value")
        for check in self.checks:
            value = check(value)
        return value

    def default_for(self, others: Mapping[str, Any]) -> Any:
        """Return the default, which may depend on other settings."""
        return self.parsed(self.default if self.default_factory is None else self.default_factory(others))


class _Declared(NamedTuple):
    """The right side of a declaration."""

    default: Any
    default_factory: Callable[[Mapping[str, Any]], Any] | None
    description: str
    is_shown: bool
    limits: Limits


@overload
def setting(
    *,
    default: T,
    description: str,
    repr: bool = True,
    gt: float | None = None,
    ge: float | None = None,
    le: float | None = None,
) -> T: ...
@overload
def setting(*, default_factory: Callable[[Mapping[str, Any]], T], description: str, repr: bool = True) -> T: ...
def setting(
    *,
    default: Any = None,
    default_factory: Callable[[Mapping[str, Any]], Any] | None = None,
    description: str,
    repr: bool = True,
    gt: float | None = None,
    ge: float | None = None,
    le: float | None = None,
) -> Any:
    """Declare a setting. `default_factory` receives the values of the other settings. `repr`: whether a repr shows the
    value; False for passwords. `gt`, `ge`, `le`: limits of a number."""
    return _Declared(default, default_factory, description, repr, Limits(gt, ge, le))


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(setting,))
class SettingsGroup:
    """Settings of one subject. Instances cannot be changed, and their repr shows no password.

    `fields`: every setting of this class and its bases, by name."""

    fields: ClassVar[Mapping[str, Setting]] = {}

    def __init_subclass__(cls) -> None:
        fields: dict[str, Setting] = {}
        for base in reversed(cls.__mro__[1:]):
            fields |= vars(base).get("fields", {})
        for name, annotation in vars(cls).get("__annotations__", {}).items():
            if isinstance(declared := vars(cls).get(name), _Declared):
                fields[name] = _setting(name, annotation, declared)
                delattr(cls, name)  # an instance has the value
        cls.fields = fields

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Settings cannot be changed, so {name} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Settings cannot be changed, so {name} cannot be deleted.")

    def __repr__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name, field in self.fields.items() if field.is_shown]
        return f"{type(self).__name__}({', '.join(shown)})"


def _setting(name: str, annotation: Any, declared: _Declared) -> Setting:
    kind, is_optional, more = _unwrapped(annotation)
    limits = [declared.limits, *(each for each in more if isinstance(each, Limits))]
    checks = [each for each in more if not isinstance(each, Limits)]
    return Setting(name, kind, is_optional, *declared[:4], tuple(limits), tuple(checks))


def _unwrapped(annotation: Any) -> tuple[Any, bool, tuple[Any, ...]]:
    """Return the type, whether None is allowed, and what `Annotated` adds."""
    origin = get_origin(annotation)
    if origin is Annotated:
        kind, is_optional, more = _unwrapped(annotation.__origin__)
        return kind, is_optional, (*more, *annotation.__metadata__)
    if origin in {Union, UnionType}:
        [inner] = [kind for kind in get_args(annotation) if kind is not NoneType]
        kind, _, more = _unwrapped(inner)
        return kind, True, more
    return annotation, False, ()


def _parsed(kind: Any, value: object) -> object:
    if get_origin(kind) is Literal:
        return _choice(get_args(kind), value)
    if get_origin(kind) is dict:
        return _table(value)
    return _PARSERS[kind](value)


def _choice(choices: tuple[str, ...], value: object) -> str:
    chosen = value.lower() if isinstance(value, str) else value
    for choice in choices:
        if chosen == choice:
            return choice
    *most, last = (repr(choice) for choice in choices)
    raise ValueError(f"must be {', '.join(most)} or {last}")


def _table(value: object) -> dict[str, str]:
    if isinstance(value, dict) and all(isinstance(part, str) for pair in value.items() for part in pair):
        return dict(value)
    raise ValueError("must be a table of texts")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def _path(value: object) -> Path:
    if not isinstance(value, str | Path):
        raise ValueError("must be a path")
    return Path(value)


def _bool(value: object) -> bool:
    word = str(value).strip().lower()
    if word in YES:
        return True
    if word in NO:
        return False
    raise ValueError("must be true or false")


def _int(value: object) -> int:
    try:
        if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
            number = int(value)
            if isinstance(value, str) or number == value:
                return number
    except (ValueError, OverflowError):
        pass
    raise ValueError("must be a whole number")


def _float(value: object) -> float:
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            number = float(value)
            if math.isfinite(number):
                return number
            raise ValueError("must be a finite number")
    except (ValueError, OverflowError) as error:
        if str(error).startswith("must"):
            raise
    raise ValueError("must be a number")


_PARSERS: Mapping[Any, Callable[[object], object]] = {
    str: _text,
    int: _int,
    float: _float,
    bool: _bool,
    Path: _path,
}
