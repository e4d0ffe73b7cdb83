"""The layout of help: lists of names with what they mean."""

from collections.abc import Iterator, Mapping

HELP = ("--help", "-h")
WIDTH = 100  # of help, at most


def described(helps: Mapping[str, str]) -> Iterator[str]:
    """Yield lines with each name and its first sentence, broken between words at the end of the terminal."""
    from shutil import get_terminal_size
    from textwrap import wrap

    width = max(map(len, helps))
    room = min(WIDTH, get_terminal_size().columns) - width - 4
    for name, help in helps.items():
        first, *others = wrap(first_line(help), max(20, room)) or [""]
        yield f"  {name:{width}}  {first}"
        yield from (f"{'':{width + 4}}{other}" for other in others)


def first_line(help: str) -> str:
    return " ".join(help.split("\n\n")[0].split())
