"""The parser of one command's arguments and options. An error is one sentence that says what to do."""

from argparse import ArgumentParser, HelpFormatter
from difflib import get_close_matches
from shutil import get_terminal_size
from typing import Any, NoReturn

from runyard.cli.parsing.help_text import HELP, WIDTH
from runyard.errors import StartupError


class _Formatter(HelpFormatter):
    """Keeps the paragraphs of a description."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=min(WIDTH, get_terminal_size().columns))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = [super(_Formatter, self)._fill_text(part, width, indent) for part in text.split("\n\n")]
        return "\n\n".join(paragraphs)

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None) -> str:
        return super()._format_usage(usage, actions, groups, "Usage: ")


class Parser(ArgumentParser):
    def __init__(self, name: str, help: str) -> None:
        super().__init__(name, description=help, allow_abbrev=False, add_help=False, formatter_class=_Formatter)
        self._positionals.title, self._optionals.title = "Arguments", "Options"
        self.add_argument(*HELP, action="help", help="Show this help and exit.")

    def error(self, message: str) -> NoReturn:
        problem = message.removeprefix("argument ").replace(": must be", " must be", 1)
        if message.startswith("unrecognized arguments: "):
            word = message.removeprefix("unrecognized arguments: ").split()[0]
            close = get_close_matches(word.partition("=")[0], self._option_string_actions, n=1)
            what = "No such option" if word.startswith("-") else "Too many arguments:"
            problem = f"{what} '{word}'" + (f"; did you mean '{close[0]}'?" if close else "")
        end = "" if problem.endswith((".", "?")) else "."
        raise StartupError(f"{problem[0].upper()}{problem[1:]}{end} Try `{self.prog} --help`.")
