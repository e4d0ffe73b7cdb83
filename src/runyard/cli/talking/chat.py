"""`runyard chat`: a conversation with an agent in the terminal.

Text streams in as the agent writes it. A run that needs an approval asks for it here, and a question is a form. Ctrl-C
cancels the run, not the program; Ctrl-D at the prompt ends the program. `--thread` continues a conversation, and first
follows those of its runs that have not ended.
"""

from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.parsing.commands import Argument, Exit, Option
from runyard.cli.parsing.options import settings_with
from runyard.cli.terminal.input import read_line
from runyard.cli.terminal.output import echo, secho
from runyard.cli.terminal.text import plain
from runyard.errors import Invalid, RunyardError

if TYPE_CHECKING:
    from asyncio import Runner

    from runyard.cli.terminal.run_printer import RunPrinter
    from runyard.client import Client, LogEvent
    from runyard.client.client import WhileRunning

Question = dict[str, Any]  # the data of approval.requested or wait.requested
# Events that are not shown in a conversation, or are shown in another way.
QUIET = frozenset({"step.started", "step.finished", "approval.requested", "run.waiting", "run.finished"})
NOT_FROM_PEOPLE = frozenset({"child", "timer", "event"})


def chat(
    agent: Annotated[str | None, Argument(help="The agent to talk to.", show_default="the default agent")] = None,
    thread: Annotated[str | None, Option(help="Continue this conversation.")] = None,
    while_running: Annotated[
        str | None,
        Option(help="With --thread: post while a run is under way, and steer, interrupt, queue or reject."),
    ] = None,
    file: Annotated[
        list[str] | None, Option("--file", help="Send this file with the first message. Repeat it for several.")
    ] = None,
) -> None:
    """Talk to an agent in the terminal.

    Ctrl-C stops an answer, Ctrl-D ends the program.
    """
    import asyncio

    from runyard.cli.clients.open_client import server_client

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        client = runner.run(stack.enter_async_context(server_client(settings_with())))
        try:
            Conversation(runner, client, agent, thread, _mode(while_running), _paths(file or [])).hold()
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


class Conversation:
    def __init__(
        self,
        runner: "Runner",
        client: "Client",
        agent: str | None,
        thread: str | None,
        while_running: "WhileRunning | None" = None,
        files: Sequence[Path] = (),
    ) -> None:
        self._files = list(files)  # for the next message
        self._runner = runner
        self._client = client
        self._agent = agent
        self._thread = thread
        self._while_running = while_running
        self._questions: dict[str, Question] = {}

    def hold(self) -> None:
        """Read messages and show answers until the end of the input."""
        try:
            if self._thread is not None and self._while_running is None:
                for run_id in self._runner.run(self._under_way(self._thread)):
                    self._hear(run_id)
            while (text := read_line("> ")) is not None:
                if text.strip():
                    self._answer(text)
        finally:
            if self._thread is not None:
                _note(f"\nTo continue: runyard chat --thread {self._thread}")

    def _answer(self, text: str) -> None:
        try:
            self._hear(self._say(text))
        except RunyardError as error:
            secho(error.message, err=True, fg="red")

    async def _under_way(self, thread: str) -> list[str]:
        """Return the runs of the thread that have not ended, oldest first."""
        runs = [run.run_id async for run in self._client.runs(thread_id=thread) if not run.has_ended]
        return runs[::-1]

    def _say(self, text: str) -> str:
        """Post a message and return its run. After Ctrl-C, post with the same idempotency key and cancel the run."""
        from runyard.ids import new_id

        if self._thread is None:
            self._thread = self._runner.run(self._client.create_thread(self._agent))
        key, thread, files = new_id(), self._thread, self._runner.run(self._uploaded())

        def post() -> Coroutine[Any, Any, str]:
            mode = self._while_running or "queue"
            return self._client.post(thread, text, self._agent, key, while_running=mode, files=files)

        try:
            run_id = self._runner.run(post())
        except KeyboardInterrupt:
            run_id = self._runner.run(post())
            self._runner.run(self._client.cancel(run_id))
        self._files = []
        return run_id

    async def _uploaded(self) -> list[str]:
        """Upload the files of the next message and return their ids."""
        return [(await self._client.upload(path)).file_id for path in self._files]

    def _hear(self, run_id: str) -> None:
        """Show a run to its end, and ask for a decision or a value whenever it waits for one."""
        from runyard.cli.terminal.run_printer import RunPrinter

        answer, seq = RunPrinter(_is_shown), 0
        while True:
            seq, questions = self._runner.run(self._listen(run_id, seq, answer))
            if not questions:
                return
            for question in questions:
                self._reply(question) if "wait_id" in question else self._decide(question)

    async def _listen(self, run_id: str, after: int, answer: "RunPrinter") -> tuple[int, list[Question]]:
        """Show events until the run ends or waits. Return the last seq and the open questions."""
        import asyncio

        try:
            async with aclosing(self._client.follow(run_id, after)) as events:
                async for event in events:
                    after = event.seq
                    if event.type in ("approval.requested", "wait.requested"):
                        self._questions[event.data.get("approval_id") or event.data["wait_id"]] = event.data
                    answer.take(event)
                    if event.type == "run.waiting" and (open_ones := await self._open_questions(run_id)):
                        answer.end()
                        return after, open_ones
        except asyncio.CancelledError:  # Ctrl-C
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            await self._client.cancel(run_id)
            return await self._listen(run_id, after, answer)
        answer.end()
        return after, []

    async def _open_questions(self, run_id: str) -> list[Question]:
        """Return what the run waits for from this person, oldest first; nothing if it has been answered meanwhile."""
        known = (await self._client.state(run_id))["waits"]
        return [
            self._questions[wait_id]
            for wait_id, asked in known.items()
            if asked["state"] == "pending" and asked["kind"] not in NOT_FROM_PEOPLE
        ]

    def _reply(self, question: Question) -> None:
        """Ask for a value, and send it. If the run no longer waits for it, say so."""
        from runyard.cli.terminal.ask_for_values import ask_for_value
        from runyard.cli.terminal.forms import FormEnded
        from runyard.errors import AlreadyDecided

        try:
            value = ask_for_value(question)
            self._runner.run(self._client.answer_wait(question["wait_id"], value))
        except FormEnded:
            raise Exit from None
        except AlreadyDecided as error:
            _note(error.message)

    def _decide(self, question: Question) -> None:
        """Ask until there is a decision, by this or another client. The end of the input ends the program."""
        from runyard.errors import AlreadyDecided

        approval_id, given = question["approval_id"], question["input"]
        is_a_call = question["kind"] == "tool"
        _note(_question_text(question), fg="magenta")
        for name, value in given.items():
            echo(f"  {plain(name)}: {_shown(value)}", err=True)
        while True:
            choice = read_line(f"  [y]es, [n]o{', [e]dit' if is_a_call else ''}: ")
            if choice is None:
                raise Exit
            try:
                match choice.strip().lower()[:1]:
                    case "y":
                        self._runner.run(self._client.approve(approval_id))
                    case "n":
                        reason = (read_line("  Reason (sent to the agent, may be empty): ") or "").strip()
                        self._runner.run(self._client.reject(approval_id, reason=reason or None))
                    case "e" if is_a_call:
                        edited = _edited(given)
                        self._runner.run(self._client.approve(approval_id, input=edited))
                    case _:
                        continue
            except AlreadyDecided as error:
                _note(error.message)
            except Invalid as error:  # the edited input is invalid: ask again
                secho(error.message, err=True, fg="red")
                continue
            return


def _is_shown(event: "LogEvent") -> bool:
    from runyard.cli.terminal.run_printer import stopped_early

    if stopped_early(event) is not None:
        return True
    went_on = event.type == "run.resumed" and event.data["why"] == "decision"
    return event.type not in QUIET and not went_on


def _edited(value: Any) -> dict[str, Any]:
    import msgspec

    text = read_line("  input: ", msgspec.json.encode(value).decode())
    try:
        return msgspec.json.decode(text or "", type=dict[str, Any])
    except msgspec.DecodeError:
        raise Invalid("The input must be a JSON object.") from None


def _question_text(question: Question) -> str:
    name = plain(question["tool"])
    match question["kind"]:
        case "unknown_outcome":
            return f"? The worker died while {name} ran, so it may have taken effect. Call it again?"
        case "question":
            return "? The agent asks"
        case _:
            return f"? Allow the call of {name}?"


def _shown(value: Any) -> str:
    """Return the whole value, so that the person sees what they decide. Indent text of several lines."""
    import msgspec

    if not isinstance(value, str):
        return plain(msgspec.json.encode(value).decode())
    lines = [plain(line) for line in value.splitlines()]
    return lines[0] if len(lines) == 1 else "".join(f"\n    {line}" for line in lines)


def _note(text: str, **style: Any) -> None:
    secho(text, err=True, **(style or {"dim": True}))
