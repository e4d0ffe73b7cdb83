"""`runyard init`: a folder with an agent, its test, a Dockerfile and a page of next steps. It runs at once."""

from pathlib import Path
from typing import Annotated

from runyard.cli.parsing.commands import Argument
from runyard.cli.parsing.options import Json, Quiet
from runyard.cli.terminal.output import echo, style
from runyard.errors import StartupError

TEMPLATE = Path(__file__).parent / "template"
SUFFIX = ".template"  # so that tools do not take these files for modules and settings of Runyard


def init(
    folder: Annotated[
        Path,
        Argument(
            help="The folder to write into. It is created if it does not exist.",
            show_default="this one",
            completes="file",
        ),
    ] = Path(),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a new app: an agent that needs no key, its test, a Dockerfile and a page of next steps.

    No file is overwritten.
    """
    from runyard.cli.terminal.results import print_json

    files = {folder / source.name.removesuffix(SUFFIX): source for source in sorted(TEMPLATE.iterdir())}
    taken = [target.name for target in files if target.exists()]
    if taken:
        raise StartupError(f"{folder} has {', '.join(taken)} already. Name a new folder: runyard init my-agents.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for target, source in files.items():
            target.write_bytes(source.read_bytes())
    except OSError as error:
        raise StartupError(f"Cannot write into {folder}: {error.strerror or type(error).__name__}.") from error
    if json:
        print_json([str(target) for target in files])
    if json or quiet:
        return
    for target in files:
        echo(f"  {target}")
    enter = "" if folder == Path() else f"cd {folder}\n    "
    echo(f"""
  {style("Next:", bold=True)}

    {enter}runyard dev app.py    # serve the agent and its page
    runyard chat          # talk to it, in another terminal
    python -m pytest      # test it without a server (pip install pytest)

  README.md lists the next steps.""")
