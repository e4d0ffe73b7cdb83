"""Print a run while it happens: the answer on stdout; tools, waits and the end on stderr. Or its events as JSON."""

import sys
from typing import TYPE_CHECKING, Any

from runyard.cli.terminal.output import echo, secho, style
from runyard.cli.terminal.text import STATUS_COLOURS, one_line, plain, revealed
from runyard.cli.terminal.wrapping import filled, wrapper_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runyard.client import LogEvent

# `model.reset` discards the text since the last of these events.
KEEPS = frozenset({"step.finished", "tool.finished", "model.message", "approval.decided", "wait.answered"})


def stopped_early(event: "LogEvent") -> str | None:
    """Return a sentence that names the limit which ended this run early; None otherwise."""
    from runyard.domain.runs.run import STOPPED_EARLY

    is_done = event.type == "run.finished" and event.data["status"] == "done"
    return STOPPED_EARLY.get(event.data["stop_reason"]) if is_done else None


class RunPrinter:
    """Call `take` with every event in order. `status` is the run's final status, once it has ended. Events that
    `is_shown` rejects are tracked, but not printed. `quiet`: print the answer only."""

    def __init__(self, is_shown: "Callable[[LogEvent], bool]" = lambda _: True, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._wrapper, self._aside_wrapper = wrapper_for(sys.stdout), wrapper_for(sys.stderr)
        self.status: str | None = None
        self._is_shown = is_shown
        self._shown: list[str] = []
        self._kept_pieces = 0
        self._line_is_open = self._aside_is_open = False

    def take(self, event: "LogEvent") -> None:
        if self._is_shown(event):
            self._show(event)
        if event.type in KEEPS:
            self._kept_pieces = len(self._shown)

    def _show(self, event: "LogEvent") -> None:
        data = event.data
        match event.type:
            case "model.token":
                self._shown.append(data["text"])
                self._write(data["text"])
            case "model.thinking":
                self._aside(data["text"])
            case "tool.output":
                self._aside(data["text"])
            case "model.reset":
                if len(self._shown) > self._kept_pieces:
                    del self._shown[self._kept_pieces :]
                    self._note("the text since the last result is repeated:")
            case "run.resumed":
                self._note(f"resumed after a {data['why']}")
            case "step.started":
                self._note(f"▸ {one_line(data['name'])}")
            case "step.finished" if data.get("error"):
                self._note(f"▸ {one_line(data['name'])} failed: {data['error']}")
            case "tool.started":
                self._note(f"→ {_call(data)}")
            case "tool.finished":
                code, output = data.get("error"), data.get("output")
                outcome = f"failed: {code}" if code and output is None else one_line(output)
                self._note(f"← {revealed(data['tool'])} {outcome}")
            case "approval.requested":
                self._note(f"? {_call(data)}")
                self._note(f"  runyard approvals approve {data['approval_id']}")
            case "approval.decided":
                self._note(f"! {data['decision']} by {one_line(data['by'])}")
            case "wait.requested":
                self._wait(data)
            case "wait.answered":
                self._note(f"! {data['outcome']} by {one_line(data['by'])}")
            case "run.waiting":
                self._note("waiting")
            case "run.output":
                if "".join(self._shown) != data["text"]:
                    self._end_line()
                    self._write(data["text"])
                if data.get("sources"):
                    self._note(f"sources: {one_line(', '.join(data['sources']), 500)}")
                for file in data.get("files") or ():
                    self._note(f"file: {one_line(file['name'])} ({file['size']} bytes, {file['file_id']})")
            case "run.error":
                self._note(f"{data['code']}: {plain(data['message'])}")
            case "run.canceled":
                self._note(f"canceled: {plain(data['reason'])}")
            case "run.finished":
                self.status = data["status"]
                if (early := stopped_early(event)) is not None:
                    self._note(early, "yellow")
                self._note(data["status"], STATUS_COLOURS.get(data["status"]))
            case _:
                pass

    def _wait(self, data: "Mapping[str, Any]") -> None:
        name = one_line(data["name"], safe=revealed)
        match data["kind"]:
            case "question":
                self._note(f"? {one_line(data.get('prompt') or name, 500)}")
            case "client_tool":
                self._note(f"? tool of the client: {name} {one_line(data.get('input'), safe=revealed)}")
            case "child":
                self._note(f"⋯ {name} in run {data['child']}")
                return
            case "timer":
                self._note("⋯ sleeping")
                return
            case _:
                self._note(f"⋯ {name} {one_line(data.get('input') or '', safe=revealed)}".rstrip())
                return
        self._note(f"  runyard waits answer {data['wait_id']}")

    def end(self) -> None:
        """Leave the cursor at the start of a line."""
        self._end_line()

    def _write(self, text: str) -> None:
        if self._aside_is_open:
            self._end_line()
        text = plain(text)
        sys.stdout.write(text if self._wrapper is None else self._wrapper.feed(text))
        sys.stdout.flush()
        if text:
            self._line_is_open = not text.endswith("\n")

    def _aside(self, text: str) -> None:
        """Print a piece of text that is not the answer: reasoning, or a tool's output."""
        if self._line_is_open:
            self._end_line()
        if self._quiet:
            return
        text = plain(text)
        secho(text if self._aside_wrapper is None else self._aside_wrapper.feed(text), err=True, dim=True, nl=False)
        if text:
            self._aside_is_open = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._line_is_open:
            sys.stdout.write(("" if self._wrapper is None else self._wrapper.flush()) + "\n")
            sys.stdout.flush()
        if self._aside_is_open:
            echo("" if self._aside_wrapper is None else style(self._aside_wrapper.flush(), dim=True), err=True)
        self._line_is_open = self._aside_is_open = False

    def _note(self, text: str, colour: str | None = None) -> None:
        self._end_line()
        if not self._quiet:
            secho(filled(text, sys.stderr), err=True, dim=colour is None, fg=colour)


def _call(data: "Mapping[str, Any]") -> str:
    """Return a tool and its input in one line."""
    return f"{revealed(data['tool'])} {one_line(data['input'], safe=revealed)}"


class JsonPrinter:
    """Prints every event as a line of JSON."""

    def __init__(self) -> None:
        self.status: str | None = None

    def take(self, event: "LogEvent") -> None:
        import msgspec

        if event.type == "run.finished":
            self.status = event.data["status"]
        sys.stdout.write(msgspec.json.encode(event).decode() + "\n")
        sys.stdout.flush()

    def end(self) -> None:
        """Every line is complete."""


def run_printer(*, json: bool = False, quiet: bool = False) -> RunPrinter | JsonPrinter:
    return JsonPrinter() if json else RunPrinter(quiet=quiet)
