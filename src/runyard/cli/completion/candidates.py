"""The words that may follow an unfinished command line."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from runyard.cli.parsing.commands import Argument, Command, Group, Parameter

FILES = ":files"
Candidate = tuple[str, str]
Known = Callable[[str], Iterable[Candidate]]  # the existing ids of a kind, with their meaning
IDS = frozenset({"run", "thread", "approval", "wait", "key"})
KINDS = IDS | {"channel", "agent"}  # these may have names
END = 8  # characters of an id that are shown in many places and accepted in all


def candidates(program: Group, words: Sequence[str], options: Sequence[str], known: Known) -> Iterator[Candidate]:
    """Yield what the last word may become. `options`: options of the program itself."""
    *before, current = words or [""]
    for word, meaning in _all(program, before, current, options, known):
        if word.startswith(current) or word == FILES:
            yield word, " ".join(meaning.split())


def _all(program: Group, before: list[str], current: str, options: Sequence[str], known: Known) -> Iterable[Candidate]:
    entry: Group | Command | None = program
    while before and isinstance(entry, Group):
        entry = entry.entries.get(before[0])
        before = before[1:]
    if isinstance(entry, Command):
        return _of_command(entry, before, current, known)
    if entry is None:
        return []
    if current.startswith("-"):
        return [(option, "") for option in ("--help", *(options if entry is program else ()))]
    return [(name, each.help.partition("\n\n")[0]) for name, each in entry.entries.items()]


def _of_command(command: Command, before: Sequence[str], current: str, known: Known) -> Iterable[Candidate]:
    by_flag = {flag: parameter for parameter in command.parameters for flag in _flags(parameter)}
    takes_value = by_flag.get(before[-1]) if before else None
    if takes_value is not None and takes_value.kind is not bool:
        return _values(takes_value, current, known)
    if current.startswith("-"):
        unused = [flag for flag, parameter in by_flag.items() if flag not in before or parameter.is_list]
        return [*((flag, by_flag[flag].help) for flag in unused), ("--help", "Show this help and exit.")]
    arguments = [parameter for parameter in command.parameters if isinstance(parameter.declared, Argument)]
    place = _position(before, by_flag)
    if arguments and arguments[-1].is_list:
        place = min(place, len(arguments) - 1)
    return _values(arguments[place], current, known) if place < len(arguments) else []


def _flags(parameter: Parameter) -> list[str]:
    first, *others = parameter.flags or [""]
    return [first, *others] if first else []


def _position(before: Sequence[str], by_flag: dict[str, Parameter]) -> int:
    """Return how many arguments there are already, without options and their values."""
    count, is_value = 0, False
    for word in before:
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = word in by_flag and by_flag[word].kind is not bool
        else:
            count += 1
    return count


def _values(parameter: Parameter, current: str, known: Known) -> Iterable[Candidate]:
    wanted = parameter.declared.completes
    if wanted == "file":
        return [(FILES, "")]
    if wanted in IDS:
        # to the end of an id, the short id: a shell keeps what was typed only if the candidate begins with it
        end = max(END, len(current))
        return [(each if each.startswith(current) else each[-end:], meaning) for each, meaning in known(wanted)]
    return known(wanted) if wanted in KINDS else [(word, "") for word in wanted.split()]
