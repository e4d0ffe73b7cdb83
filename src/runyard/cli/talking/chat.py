"""`runyard chat`: a conversation with an agent in the terminal.

Text streams in as the agent writes it. A run that needs an approval asks for it here, and a question is a form. Ctrl-C
cancels the run, not the program; Ctrl-D at the prompt ends the program. `--thread` continues a conversation, and first
follows those of its runs that have not ended.
"""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from runyard.cli.parsing.commands import Argument, Option
from runyard.cli.parsing.options import settings_with
from runyard.cli.terminal.text import plain
from runyard.errors import Invalid

if TYPE_CHECKING:
    from runyard.client.client import WhileRunning


def chat(
    agent: Annotated[
        str | None, Argument(help="The agent to talk to.", show_default="the default agent", completes="agent")
    ] = None,
    thread: Annotated[str | None, Option(help="Continue this conversation.", completes="thread")] = None,
    while_running: Annotated[
        str | None,
        Option(
            help="With --thread: post while a run is under way, and steer, interrupt, queue or reject.",
            completes="steer interrupt queue reject",
        ),
    ] = None,
    file: Annotated[
        list[str] | None,
        Option("--file", help="Send this file with the first message. Repeat it for several.", completes="file"),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print every event as a line of JSON.")] = False,
    quiet: Annotated[bool, Option("--quiet", help="Print answers and questions only.")] = False,
) -> None:
    """Talk to an agent in the terminal.

    /help lists the commands inside. A line that ends with a backslash is continued. Ctrl-C stops an answer, Ctrl-D ends
    the program.
    """
    import asyncio

    from runyard.cli.clients.open_client import server_client
    from runyard.cli.talking.conversation import Conversation

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        client = runner.run(stack.enter_async_context(server_client(settings_with())))
        try:
            conversation = Conversation(
                runner, client, agent, thread, _mode(while_running), _paths(file or []), json=json, quiet=quiet
            )
            conversation.hold()
        finally:
            runner.run(stack.aclose())


def _mode(while_running: str | None) -> "WhileRunning | None":
    """Return the mode that `--while-running` names. Raises Invalid."""
    modes: dict[str, WhileRunning] = {"queue": "queue", "steer": "steer", "interrupt": "interrupt", "reject": "reject"}
    if while_running is not None and while_running not in modes:
        raise Invalid(f"--while-running is one of {', '.join(modes)}.")
    return None if while_running is None else modes[while_running]


def _paths(files: list[str]) -> list[Path]:
    """Return the paths of the files to send. Raises Invalid."""
    paths = [Path(each).expanduser() for each in files]
    if missing := [each for each in paths if not each.is_file()]:
        raise Invalid(f"There is no file {plain(str(missing[0]))}.")
    return paths
