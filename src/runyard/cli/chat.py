"""`runyard chat`: a conversation with an agent in the terminal.

Text streams in as it is written; a question to a person is asked here, and the run waits for the answer. Ctrl-C stops
the run that is answering, not the program; Ctrl-D at the prompt leaves. The conversation stays: `--thread` goes on with
it, and whatever of it was still under way is heard to its end first.
"""

import sys
from collections.abc import Coroutine
from contextlib import AsyncExitStack, aclosing, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from runyard.cli.options import settings_with
from runyard.cli.wording import plain
from runyard.errors import Conflict, Invalid, RunyardError

if TYPE_CHECKING:
    from asyncio import Runner

    from runyard.cli.answer import Answer
    from runyard.client import Client, LogEvent

Question = dict[str, Any]  # the data of approval.requested
# what goes without saying in a conversation, or is said in other words
QUIET = frozenset({"step.started", "step.finished", "approval.requested", "run.waiting", "run.finished"})


def chat(
    agent: Annotated[str | None, typer.Argument(help="Whom to talk to.", show_default="the default agent")] = None,
    thread: Annotated[str | None, typer.Option(help="Go on with this conversation.")] = None,
) -> None:
    """Talk to an agent in the terminal.

    Ctrl-C stops an answer, Ctrl-D leaves.
    """
    import asyncio

    from runyard.cli.connected import connected

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        client, is_live = runner.run(stack.enter_async_context(connected(settings_with())))
        try:
            if not is_live:
                raise Conflict("Nobody is at work on runs; start `runyard dev` in another terminal.")
            Conversation(runner, client, agent, thread).hold()
        finally:
            runner.run(stack.aclose())


class Conversation:
    def __init__(self, runner: "Runner", client: "Client", agent: str | None, thread: str | None) -> None:
        self._runner = runner
        self._client = client
        self._agent = agent
        self._thread = thread
        self._asked: dict[str, Question] = {}

    def hold(self) -> None:
        """Talk until the person leaves."""
        try:
            if self._thread is not None:
                for run_id in self._runner.run(self._under_way(self._thread)):
                    self._hear(run_id)
            while (text := _asked("> ")) is not None:
                if text.strip():
                    self._answer(text)
        finally:
            if self._thread is not None:
                _note(f"\ngo on with it: runyard chat --thread {self._thread}")

    def _answer(self, text: str) -> None:
        try:
            self._hear(self._say(text))
        except RunyardError as error:
            typer.secho(error.message, err=True, fg="red")

    async def _under_way(self, thread: str) -> list[str]:
        """The runs of the thread that have not ended, in their order."""
        runs = [run.run_id async for run in self._client.runs(thread_id=thread) if not run.has_ended]
        return runs[::-1]

    def _say(self, text: str) -> str:
        """The run that answers. Interrupted on the way, it is asked for again by its key, and stopped."""
        from runyard.ids import new_id

        if self._thread is None:
            self._thread = self._runner.run(self._client.create_thread(self._agent))
        key, thread = new_id(), self._thread

        def post() -> Coroutine[Any, Any, str]:
            return self._client.post(thread, text, self._agent, key)

        try:
            return self._runner.run(post())
        except KeyboardInterrupt:
            run_id = self._runner.run(post())
            self._runner.run(self._client.cancel(run_id))
            return run_id

    def _hear(self, run_id: str) -> None:
        """Show a run to its end, and ask the person whenever it waits for one."""
        from runyard.cli.answer import Answer

        answer, seq = Answer(_is_news), 0
        while True:
            seq, questions = self._runner.run(self._listen(run_id, seq, answer))
            if not questions:
                return
            for question in questions:
                self._decide(question)

    async def _listen(self, run_id: str, after: int, answer: "Answer") -> tuple[int, list[Question]]:
        """Show what happens until the run ends or waits for a person: where it got to, and what it asks."""
        import asyncio

        try:
            async with aclosing(self._client.follow(run_id, after)) as events:
                async for event in events:
                    after = event.seq
                    if event.type == "approval.requested":
                        self._asked[event.data["approval_id"]] = event.data
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
        """What the run waits for now, in the order it was asked; nothing if somebody has decided meanwhile."""
        known = (await self._client.state(run_id))["approvals"]
        return [self._asked[approval_id] for approval_id, asked in known.items() if asked["state"] == "pending"]

    def _decide(self, question: Question) -> None:
        """Ask until there is a decision. Somebody else may be quicker; who leaves the question open leaves."""
        from runyard.errors import AlreadyDecided

        approval_id, given = question["approval_id"], question["input"]
        is_a_call = question["kind"] == "tool"
        _note(_in_words(question), fg="magenta")
        for name, value in given.items():
            typer.echo(f"  {plain(name)}: {_shown(value)}", err=True)
        while True:
            choice = _asked(f"  [y]es, [n]o{', [e]dit' if is_a_call else ''}: ")
            if choice is None:
                raise typer.Exit
            try:
                match choice.strip().lower()[:1]:
                    case "y":
                        self._runner.run(self._client.approve(approval_id))
                    case "n":
                        reason = (_asked("  why not? (the agent is told; may be empty) ") or "").strip()
                        self._runner.run(self._client.reject(approval_id, reason=reason or None))
                    case "e" if is_a_call:
                        edited = _edited(given)
                        self._runner.run(self._client.approve(approval_id, input=edited))
                    case _:
                        continue
            except AlreadyDecided as error:
                _note(error.message)
            except Invalid as error:  # an input that does not fit decides nothing
                typer.secho(error.message, err=True, fg="red")
                continue
            return


def _is_news(event: "LogEvent") -> bool:
    from runyard.cli.answer import stopped_early

    if stopped_early(event) is not None:
        return True
    went_on = event.type == "run.resumed" and event.data["why"] == "decision"
    return event.type not in QUIET and not went_on


def _asked(prompt: str, given: str = "") -> str | None:
    """A line from the person, who may change what is `given`; None if they leave. Ctrl-C begins the line anew."""
    is_terminal = sys.stdin.isatty()
    readline: Any = None
    if is_terminal:
        with suppress(ImportError):
            import readline
    if readline is not None:
        readline.set_startup_hook(lambda: readline.insert_text(given))
    try:
        while True:
            try:
                return input(prompt if is_terminal else "")
            except KeyboardInterrupt:
                typer.echo()
    except EOFError:
        return None
    finally:
        if readline is not None:
            readline.set_startup_hook()


def _edited(value: Any) -> dict[str, Any]:
    import msgspec

    text = _asked("  input: ", msgspec.json.encode(value).decode())
    try:
        return msgspec.json.decode(text or "", type=dict[str, Any])
    except msgspec.DecodeError:
        raise Invalid("The input must be a JSON object.") from None


def _in_words(question: Question) -> str:
    name = plain(question["tool"])
    match question["kind"]:
        case "unknown_outcome":
            return f"? {name} had begun when its worker died, and may have happened. Shall it be called again?"
        case "question":
            return "? The agent asks you"
        case _:
            return f"? May {name} be called?"


def _shown(value: Any) -> str:
    """All of it: who decides must see what is decided. Text of several lines is set off."""
    import msgspec

    if not isinstance(value, str):
        return plain(msgspec.json.encode(value).decode())
    lines = [plain(line) for line in value.splitlines()]
    return lines[0] if len(lines) == 1 else "".join(f"\n    {line}" for line in lines)


def _note(text: str, **style: Any) -> None:
    typer.secho(text, err=True, **(style or {"dim": True}))
