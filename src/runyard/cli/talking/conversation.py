"""A conversation in the terminal: messages are read and posted, runs are shown, questions are asked."""

import sys
from collections.abc import Coroutine, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runyard.cli.clients.short_ids import whole_thread_id
from runyard.cli.talking.questions import NOT_FROM_PEOPLE, Question, Questions
from runyard.cli.talking.slash_commands import QUIT, SlashCommands
from runyard.cli.terminal.input import offer_history, read_message
from runyard.cli.terminal.output import secho
from runyard.cli.terminal.text import plain
from runyard.errors import Invalid, RunyardError

if TYPE_CHECKING:
    from asyncio import Runner

    from runyard.cli.terminal.run_printer import JsonPrinter, RunPrinter
    from runyard.client import Client, LogEvent
    from runyard.client.client import WhileRunning

# Events that are not shown in a conversation, or are shown in another way.
QUIET = frozenset({"step.started", "step.finished", "approval.requested", "run.waiting", "run.finished"})
REMEMBERED = 100  # earlier messages that the up arrow offers
CUT_QUESTION = 300  # characters at which a list cuts questions: such a message is not offered
SHOWN = 4  # messages that are shown when a conversation is continued


class Conversation:
    """`agent` and `thread` are what was given; `open` checks them. Without a thread, the first message begins one."""

    def __init__(
        self,
        runner: "Runner",
        client: "Client",
        agent: str | None,
        thread: str | None,
        while_running: "WhileRunning | None" = None,
        files: Sequence[Path] = (),
        *,
        json: bool = False,
        quiet: bool = False,
    ) -> None:
        self.agent = agent
        self.thread = thread
        self._files = list(files)  # for the next message
        self._runner = runner
        self._client = client
        self._while_running = while_running
        self._json = json
        self._quiet = quiet
        self._questions_by_id: dict[str, Question] = {}
        self._questions = Questions(runner.run, client)
        self._commands = SlashCommands(self)

    def hold(self) -> None:
        """Read messages and show answers until the end of the input."""
        self._open()
        try:
            if self.thread is not None and self._while_running is None:
                for run_id in self._runner.run(self._under_way(self.thread)):
                    self._follow_to_end(run_id)
            while (text := read_message("> ")) is not None and text.strip() not in QUIT:
                if text.strip():
                    self._answer(text)
        finally:
            if self.thread is not None:
                self._note(f"\nTo continue: runyard chat --thread {self.thread}")

    def _open(self) -> None:
        """Check the agent and the thread before the first message. Raises Invalid or NotFound."""
        if self.agent is not None:
            self._check(self.agent)
        if self.thread is not None:
            self.thread = self._runner.run(whole_thread_id(self._client, self.thread))
            self.show_history(SHOWN)
        if sys.stdin.isatty():
            offer_history(self._runner.run(self._earlier_messages()))
            who = (
                plain(self.agent)
                if self.agent
                else "the agent of this conversation"
                if self.thread
                else "the default agent"
            )
            self._note(f"Talking to {who}. /help lists commands, Ctrl-D ends.")

    def _check(self, agent: str) -> None:
        from difflib import get_close_matches

        names = self.agent_names()
        if agent not in names:
            close = get_close_matches(agent, names, n=1)
            meant = f" Did you mean {close[0]}?" if close else ""
            raise Invalid(
                f"This server has no agent {plain(agent)} that answers messages.{meant} It has {', '.join(names)}."
            )

    async def _earlier_messages(self) -> list[str]:
        """Return earlier messages of this person to this agent, oldest first, as they are typed. Messages of several
        lines, and long ones, which lists cut, are left out."""
        found: list[str] = []
        async with aclosing(self._client.runs(agent=self.agent, page=REMEMBERED)) as runs:
            async for run in runs:
                text = run.question or ""
                if text and "\n" not in text and len(text) < CUT_QUESTION:
                    found.append(f"/{text}" if text.startswith("/") else text)
                if len(found) >= REMEMBERED:
                    break
        return found[::-1]

    # --- what commands inside the conversation change

    def agent_names(self) -> list[str]:
        return self._runner.run(self._client.agent_names())

    def change_agent(self, agent: str) -> None:
        self._check(agent)
        self.agent = agent

    def attach(self, path: Path) -> None:
        """Send this file with the next message."""
        self._files.append(path)

    def begin_another(self) -> None:
        self.thread = None

    def show_history(self, limit: int = 100) -> None:
        """Show the newest messages of the conversation."""
        from runyard.cli.terminal.conversation_tables import print_thread_messages

        if self.thread is not None:
            messages = self._runner.run(self._client.thread_messages(self.thread, limit))
            if not self._quiet and not self._json:
                print_thread_messages(messages)

    # --- messages and answers

    def _answer(self, text: str) -> None:
        try:
            message: str | None = text
            if text.startswith("//"):
                message = text[1:]
            elif text.startswith("/"):
                message = self._commands.run(text)
            if message is not None:
                self._follow_to_end(self._say(message))
        except RunyardError as error:
            secho(error.message, err=True, fg="red")

    async def _under_way(self, thread: str) -> list[str]:
        """Return the runs of the thread that have not ended, oldest first."""
        runs = [run.run_id async for run in self._client.runs(thread_id=thread) if not run.has_ended]
        return runs[::-1]

    def _say(self, text: str) -> str:
        """Post a message and return its run. After Ctrl-C, post with the same idempotency key and cancel the run."""
        from runyard.base.ids import new_id

        if self.thread is None:
            self.thread = self._runner.run(self._client.create_thread(self.agent))
        key, thread, files = new_id(), self.thread, self._runner.run(self._uploaded())

        def post() -> Coroutine[Any, Any, str]:
            mode = self._while_running or "queue"
            return self._client.post(thread, text, self.agent, key, while_running=mode, files=files)

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

    def _follow_to_end(self, run_id: str) -> None:
        """Show a run to its end, and ask for a decision or a value whenever it waits for one."""
        from runyard.cli.terminal.run_printer import JsonPrinter, RunPrinter

        answer, seq = JsonPrinter() if self._json else RunPrinter(is_shown, quiet=self._quiet), 0
        while True:
            seq, questions = self._runner.run(self._listen(run_id, seq, answer))
            if not questions:
                return
            for question in questions:
                self._questions.ask(question)

    async def _listen(self, run_id: str, after: int, answer: "RunPrinter | JsonPrinter") -> tuple[int, list[Question]]:
        """Show events until the run ends or waits. Return the last seq and the open questions."""
        import asyncio

        try:
            async with aclosing(self._client.follow(run_id, after)) as events:
                async for event in events:
                    after = event.seq
                    if event.type in ("approval.requested", "wait.requested"):
                        self._questions_by_id[event.data.get("approval_id") or event.data["wait_id"]] = event.data
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
            self._questions_by_id[wait_id]
            for wait_id, asked in known.items()
            if asked["state"] == "pending" and asked["kind"] not in NOT_FROM_PEOPLE
        ]

    def _note(self, text: str) -> None:
        if not self._quiet:
            secho(text, err=True, dim=True)


def is_shown(event: "LogEvent") -> bool:
    from runyard.cli.terminal.run_printer import stopped_early

    if stopped_early(event) is not None:
        return True
    went_on = event.type == "run.resumed" and event.data["why"] == "decision"
    return event.type not in QUIET and not went_on
