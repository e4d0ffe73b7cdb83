"""Translates the log of a run for clients of MCP. Pure: needs only the events, from the first one.

A tool call has a result at its end, and notifications of progress before. Text comes as progress line by line; the
result has the whole answer. A part of a run ends where it waits for something that the client may answer, or where the
run ends. Parts, the numbers of notifications and results depend on the log alone.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple, assert_never

from msgspec import UNSET

from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelToken,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    StepStarted,
    ToolFinished,
    ToolStarted,
    WaitAnswered,
    WaitRequested,
)
from runyard.domain.state.parted import client_wait
from runyard.faces.mcp.state import State

LINE = 100  # characters of text that make a notification, even if the line has not ended


class Progress(NamedTuple):
    """A notification. Its number increases along the log."""

    number: int
    message: str


# What an event adds to a part: a notification, or its end, where the run waits for the client or ends.
Addition = Progress | Literal["waits", "end"]


class Translation:
    """Takes the events of a log in order and returns what each of them adds to the current part."""

    def __init__(self, run_id: str, state: State | None = None) -> None:
        self.state = state or State(run_id=run_id)

    def take(self, event: Event) -> list[Addition]:
        state, out = self.state, list[Addition]()
        if not state.is_open:
            state.part += 1
            state.is_open = True
        state.updated_at = event.ts
        self._apply(event, out)
        return out

    def write_on(self, pieces: Iterable[str], ts: int) -> list[Addition]:
        """Take pieces of text of an open part, the last one from this time. Return the lines that they complete."""
        state, out = self.state, list[Addition]()
        state.updated_at, state.is_thinking = ts, False
        length = sum(map(len, state.line))
        for piece in pieces:
            state.line.append(piece)
            length += len(piece)
            if length >= LINE or "\n" in piece:
                self._flush(out)
                length = 0
        return out

    def _apply(self, event: Event, out: list[Addition]) -> None:
        match event.type:
            case "model.token" | "model.thinking" | "model.reset" | "run.output":
                self._text(event, out)
            case "step.started" | "tool.started" | "tool.finished":
                self._work(event, out)
            case "approval.requested" | "approval.decided" | "wait.requested" | "wait.answered" | "run.waiting":
                self._wait(event, out)
            case "run.queued" | "run.error" | "run.finished":
                self._begin_or_end(event, out)
            case (
                "run.resumed"
                | "message.received"
                | "message.taken"
                | "step.finished"
                | "model.message"
                | "tool.requested"
                | "tool.output"
                | "trace"
                | "run.canceled"
            ):
                pass  # `model.message` repeats the tokens; `run.finished` follows `run.canceled`
            case never:
                assert_never(never)

    def _say(self, sentence: str, out: list[Addition]) -> None:
        if sentence:
            self.state.progress += 1
            out.append(Progress(self.state.progress, sentence))

    # --- text

    def _text(self, event: Event, out: list[Addition]) -> None:
        state = self.state
        match event.payload:
            case ModelToken(text):
                out += self.write_on([text], event.ts)
            case RunOutput(text, sources, outputs) as output:
                state.text, state.sources, state.outputs = text, sources, outputs
                state.files = [] if output.files is UNSET else list(output.files)
            case _ if event.type == "model.thinking":
                if not state.is_thinking:
                    self._flush(out)
                    self._say("Thinking", out)
                state.is_thinking = True
            case _:  # model.reset
                state.line = []

    def _flush(self, out: list[Addition]) -> None:
        """Show the text since the last notification."""
        self._say("".join(self.state.line).strip(), out)
        self.state.line = []

    # --- work

    def _work(self, event: Event, out: list[Addition]) -> None:
        self._flush(out)
        self.state.is_thinking = False
        match event.payload:
            case StepStarted(_, name, None):
                self._say(name, out)
            case ToolStarted(_, tool):
                self._say(f"Calling {tool}", out)
            case ToolFinished(_, tool, _, error):
                self._say(f"{tool} failed" if error else f"{tool} returned", out)
            case _:
                pass  # a turn of the model

    # --- waits

    def _wait(self, event: Event, out: list[Addition]) -> None:
        state = self.state
        match event.payload:
            case (ApprovalRequested(wait_id) | WaitRequested(wait_id)) as asked if wait := client_wait(asked):
                state.waits[wait_id] = wait
            case WaitRequested() as other:
                self._flush(out)
                self._say(_other_wait(other.kind, other.name), out)
            case ApprovalDecided(wait_id) | WaitAnswered(wait_id):
                if (answered := state.waits.get(wait_id)) is not None:
                    answered.is_open = False
            case _:  # run.waiting
                if state.open_waits:
                    self._flush(out)
                    state.is_open = False
                    out.append("waits")

    # --- the beginning and the end

    def _begin_or_end(self, event: Event, out: list[Addition]) -> None:
        state = self.state
        match event.payload:
            case RunQueued(options=options):
                state.echo = {} if options is None else options.echo
            case RunError() as error:
                state.error = error
            case RunFinished(status):
                state.status = status
                state.is_open = False
                for wait in state.waits.values():
                    wait.is_open = False
                out.append("end")
            case _:
                raise AssertionError(event.type)


def _other_wait(kind: str, name: str) -> str:
    match kind:
        case "child":
            return f"Asking the agent {name}"
        case "timer":
            return "Waiting for a time"
        case _:
            return f"Waiting for the event {name}"
