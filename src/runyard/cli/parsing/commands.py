"""Commands of the command line: functions whose annotated parameters are arguments and options.

    @program.command()
    def show(
        run_id: Annotated[str, Argument(help="The id of a run.")],
        json: Annotated[bool, Option("--json", help="Print JSON instead of a table.")] = False,
    ) -> None:
        \"\"\"Show one run.\"\"\"

A parameter is a `str`, `int`, `Path`, `list[str]` or, as an option, a `bool`; `| None` where its default is None. The
first paragraph of a docstring is the help in lists of commands.

On argparse, which is loaded only to parse the command that was named: other libraries take longer to import than a
command takes to run (ADR 30).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args, get_origin

from runyard.cli.parsing.help_text import HELP, described
from runyard.cli.terminal.output import echo
from runyard.errors import StartupError

if TYPE_CHECKING:
    from argparse import ArgumentParser

Function = TypeVar("Function", bound=Callable[..., None])


class Exit(Exception):
    """End the program with this exit code."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.code = code


class Argument(NamedTuple):
    """An argument at a position. `show_default`: the default in words, for the help. `completes`: what a shell
    offers here (`cli/completion/candidates.py`): a kind of id, `file`, or words."""

    help: str
    metavar: str | None = None
    show_default: str | None = None
    completes: str = ""


class Option:
    """An option. `names`: by default `--` and the parameter's name; `--this/--not-this` declares a switch.

    `min`, `max`: limits of a number. `show_default`: the default in words, for the help.
    `completes`: as for arguments."""

    def __init__(
        self,
        names: str = "",
        *,
        help: str,
        min: int | None = None,
        max: int | None = None,
        show_default: str | None = None,
        completes: str = "",
    ) -> None:
        self.names = names
        self.help = help
        self.min = min
        self.max = max
        self.show_default = show_default
        self.completes = completes


class Parameter(NamedTuple):
    """An argument or option of a command. `kind` is its type without `None`, or the type of one item of a list."""

    name: str
    declared: Argument | Option
    kind: Any
    is_list: bool
    is_required: bool
    default: Any

    @property
    def help(self) -> str:
        return self.declared.help

    @property
    def label(self) -> str:
        """The name as the help shows it: `--limit`, `RUN_ID`."""
        return self.flags[0] if self.flags else self.name.upper()

    @property
    def flags(self) -> list[str]:
        if isinstance(self.declared, Argument):
            return []
        return (self.declared.names or f"--{self.name.replace('_', '-')}").split("/")

    def add_to(self, parser: "ArgumentParser") -> None:
        from argparse import SUPPRESS, BooleanOptionalAction

        settings: dict[str, Any] = {"help": self._help().replace("%", "%%"), "default": self.default}
        if isinstance(self.declared, Argument):
            count = "*" if self.is_list else None if self.is_required else "?"
            metavar = self.declared.metavar or self.name.upper()
            parser.add_argument(self.name, nargs=count, metavar=metavar, type=self._parsed, **settings)
            return
        settings["dest"] = self.name
        if self.kind is not bool:
            how = "append" if self.is_list else "store"
            metavar = "NUMBER" if self.kind is int else "PATH" if self.kind is Path else "TEXT"
            settings |= {"action": how, "metavar": metavar, "type": self._parsed, "required": self.is_required}
            parser.add_argument(*self.flags, **settings)
        elif len(self.flags) == 1:
            parser.add_argument(*self.flags, action="store_true", **settings)
        else:
            parser.add_argument(self.flags[0], action=BooleanOptionalAction, **(settings | {"default": SUPPRESS}))
            parser.set_defaults(**{self.name: self.default})

    def _help(self) -> str:
        shown = self.declared.show_default
        if shown is None and self.default not in (None, False, "", True):
            shown = str(self.default)
        return f"{self.help} [default: {shown}]" if shown else self.help

    def _parsed(self, text: str) -> Any:
        from argparse import ArgumentTypeError

        if self.kind is not int:
            return self.kind(text)
        low, high = (self.declared.min, self.declared.max) if isinstance(self.declared, Option) else (None, None)
        try:
            number = int(text)
        except ValueError:
            raise ArgumentTypeError("must be a whole number") from None
        if low is not None and number < low:
            raise ArgumentTypeError(f"must be {low} or more")
        if high is not None and number > high:
            raise ArgumentTypeError(f"must be {high} or less")
        return number


class Command:
    """A function that the command line calls."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self.parameters = list(_parameters(function))

    @property
    def help(self) -> str:
        """The docstring, without its indentation."""
        return "\n".join(line.strip() for line in (self.function.__doc__ or "").strip().splitlines())

    def run(self, name: str, words: Sequence[str]) -> None:
        self.function(**vars(self._parser(name).parse_args(words)))

    def _parser(self, name: str) -> "ArgumentParser":
        from runyard.cli.parsing.parser import Parser

        parser = Parser(name, self.help)
        for parameter in self.parameters:
            parameter.add_to(parser)
        return parser


class Group:
    """Commands and groups of commands under one name."""

    def __init__(self, help: str) -> None:
        self.help = help
        self.entries: dict[str, Command | Group] = {}

    def command(self, name: str = "") -> Callable[[Function], Function]:
        """Add a function as a command, by default under its own name."""

        def add(function: Function) -> Function:
            self.entries[name or function.__name__.replace("_", "-")] = Command(function)
            return function

        return add

    def commands(self, name: str) -> Iterator[tuple[str, Command]]:
        """Yield every command with its whole name."""
        for part, entry in self.entries.items():
            if isinstance(entry, Command):
                yield f"{name} {part}", entry
            else:
                yield from entry.commands(f"{name} {part}")

    def run(self, name: str, words: Sequence[str], options: Mapping[str, Callable[[], None]] | None = None) -> None:
        """Call the command that these words name. `options`: further options of the group itself, such as `--version`.

        Raise StartupError if the words cannot be parsed, Exit after help that was not requested."""
        if not words or words[0] in HELP:
            echo(self._help(name, options or {}))
            raise Exit(0 if words else 2)
        if options and words[0] in options:
            options[words[0]]()
            return
        entry = self.entries.get(words[0])
        if entry is None:
            what = "option" if words[0].startswith("-") else "command"
            known = ["--help", *(options or ())] if what == "option" else self.entries
            raise StartupError(f"No such {what} '{words[0]}'.{_meant(words[0], known)} Try `{name} --help`.")
        entry.run(f"{name} {words[0]}", words[1:])

    def _help(self, name: str, options: Mapping[str, Callable[[], None]]) -> str:
        shown = {"--help": "Show this help and exit."} | {each: act.__doc__ or "" for each, act in options.items()}
        commands = {part: entry.help for part, entry in self.entries.items()}
        lines = [f"Usage: {name} COMMAND ...", "", self.help, ""]
        return "\n".join([*lines, "Commands:", *described(commands), "", "Options:", *described(shown)])


def _parameters(function: Callable[..., None]) -> Iterator[Parameter]:
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    for place, name in enumerate(names, start=len(defaults) - len(names)):
        annotation = function.__annotations__[name]
        [declared] = annotation.__metadata__
        kinds = [kind for kind in get_args(annotation.__origin__) if kind is not NoneType]
        kind = kinds[0] if kinds and get_origin(annotation.__origin__) is not list else annotation.__origin__
        is_list = get_origin(kind) is list
        kind = get_args(kind)[0] if is_list else kind
        yield Parameter(name, declared, kind, is_list, place < 0, None if place < 0 else defaults[place])


def _meant(word: str, known: Sequence[str] | Mapping[str, object]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
