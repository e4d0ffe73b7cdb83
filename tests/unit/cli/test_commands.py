"""The command line: functions become commands, and a mistake is one sentence that says what to do."""

from pathlib import Path
from typing import Annotated, Any

import pytest

from runyard.cli.parsing.commands import Argument, Exit, Group, Option
from runyard.errors import StartupError

CALLED: dict[str, Any] = {}
program = Group("A program.")
inner = Group("Inner commands.")
program.entries["inner"] = inner


@program.command()
def copy_file(
    source: Annotated[Path, Argument(help="The file to copy.")],
    to: Annotated[list[str] | None, Argument(help="Where to.")] = None,
    times: Annotated[int, Option(min=1, max=9, help="How often: 100 %.")] = 3,
    tag: Annotated[list[str] | None, Option(help="A tag.")] = None,
    dry_run: Annotated[bool, Option(help="Change nothing.")] = False,
    safe: Annotated[bool, Option("--safe/--no-safe", help="Whether to check first.")] = True,
) -> None:
    """Copy a file
    somewhere.

    The second paragraph."""
    CALLED.clear()
    CALLED.update(source=source, to=to, times=times, tag=tag, dry_run=dry_run, safe=safe)


@inner.command("list")
def list_all(owner: Annotated[str, Option(help="The owner.", show_default="none")]) -> None:
    """List everything."""
    CALLED.clear()
    CALLED.update(owner=owner)


def called(*words: str) -> dict[str, Any]:
    program.run("program", words)
    return dict(CALLED)


def refusal(*words: str) -> str:
    with pytest.raises(StartupError) as caught:
        program.run("program", words)
    return caught.value.message


def test_words_become_typed_arguments_and_options() -> None:
    assert called("copy-file", "a") == {
        "source": Path("a"), "to": [], "times": 3, "tag": None, "dry_run": False, "safe": True
    }  # fmt: skip
    assert called("copy-file", "--times", "9", "a", "b", "c", "--tag=x", "--tag", "y", "--dry-run", "--no-safe") == {
        "source": Path("a"), "to": ["b", "c"], "times": 9, "tag": ["x", "y"], "dry_run": True, "safe": False
    }  # fmt: skip
    assert called("inner", "list", "--owner", "ann") == {"owner": "ann"}


def test_an_argument_may_look_like_an_option_after_two_dashes() -> None:
    assert called("copy-file", "--", "-a", "--times")["source"] == Path("-a")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("copy", "No such command 'copy'. Did you mean 'copy-file'? Try `program --help`."),
        ("xyzzy", "No such command 'xyzzy'. Try `program --help`."),
        ("--hlp", "No such option '--hlp'. Did you mean '--help'? Try `program --help`."),
        ("inner lst", "No such command 'lst'. Did you mean 'list'? Try `program inner --help`."),
        ("inner list", "The following arguments are required: --owner. Try `program inner list --help`."),
        ("inner list --owner", "--owner: expected one argument. Try `program inner list --help`."),
        ("copy-file", "The following arguments are required: SOURCE. Try `program copy-file --help`."),
        ("copy-file a --times x", "--times must be a whole number. Try `program copy-file --help`."),
        ("copy-file a --times 0", "--times must be 1 or more. Try `program copy-file --help`."),
        ("copy-file a --times 10", "--times must be 9 or less. Try `program copy-file --help`."),
        ("copy-file a --tmes 1", "No such option '--tmes'; did you mean '--times'? Try `program copy-file --help`."),
        ("copy-file a --time 1", "No such option '--time'; did you mean '--times'? Try `program copy-file --help`."),
        ("inner list --owner a b", "Too many arguments: 'b'. Try `program inner list --help`."),
    ],
)
def test_a_mistake_is_one_sentence_that_says_what_to_do(words: str, says: str) -> None:
    assert refusal(*words.split()) == says


def test_help_lists_commands_with_their_first_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for words, code in (([], 2), (["--help"], 0)):
        with pytest.raises(Exit) as end:
            program.run("program", words)
        assert end.value.code == code
        said = capsys.readouterr().out
        assert "  copy-file  Copy a file somewhere.\n" in said
        assert "  inner      Inner commands.\n" in said


def test_help_of_a_command_names_every_option_and_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        program.run("program", ["copy-file", "--help"])
    assert end.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    for part in ("Usage: program copy-file", "Copy a file somewhere. The second paragraph.", "How often: 100 %.",
                 "[default: 3]", "--safe, --no-safe", "SOURCE"):  # fmt: skip
        assert part in said
    with pytest.raises(SystemExit):
        program.run("program", ["inner", "list", "--help"])
    assert "The owner. [default: none]" in capsys.readouterr().out


def test_an_option_of_the_program_itself_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    def version() -> None:
        """Show the version."""
        print("program 7")

    program.run("program", ["--version"], {"--version": version})
    assert capsys.readouterr().out == "program 7\n"
