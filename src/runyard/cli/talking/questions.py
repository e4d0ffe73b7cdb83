"""The questions of a run in the terminal: approvals, and values that are forms."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from runyard.cli.parsing.commands import Exit
from runyard.cli.terminal.confirming import UNKNOWN_OUTCOME, confirms_repetition
from runyard.cli.terminal.input import read_line
from runyard.cli.terminal.output import echo, secho
from runyard.cli.terminal.text import revealed
from runyard.errors import Invalid

if TYPE_CHECKING:
    from runyard.client import Client

Question = dict[str, Any]  # the data of approval.requested or wait.requested
NOT_FROM_PEOPLE = frozenset({"child", "timer", "event"})


class Questions:
    """Asks the person what a run waits for, and sends the answer. `run` runs a coroutine to its end."""

    def __init__(self, run: Callable[[Coroutine[Any, Any, Any]], Any], client: "Client") -> None:
        self._run = run
        self._client = client

    def ask(self, question: Question) -> None:
        """Ask, and send the answer. The end of the input ends the program."""
        if "wait_id" in question:
            self._reply(question)
        else:
            self._decide(question)

    def _reply(self, question: Question) -> None:
        """Ask for a value, and send it. If the run no longer waits for it, say so."""
        from runyard.cli.terminal.ask_for_values import ask_for_value
        from runyard.cli.terminal.forms import FormEnded
        from runyard.errors import AlreadyDecided

        try:
            value = ask_for_value(question)
            self._run(self._client.answer_wait(question["wait_id"], value))
        except FormEnded:
            raise Exit from None
        except AlreadyDecided as error:
            secho(error.message, err=True, dim=True)

    def _decide(self, question: Question) -> None:
        """Ask until there is a decision, by this or another client."""
        from runyard.errors import AlreadyDecided

        approval_id, given = question["approval_id"], question["input"]
        is_a_call, is_repetition = question["kind"] == "tool", question["kind"] == UNKNOWN_OUTCOME
        secho(_question_text(question), err=True, fg="magenta")
        for name, value in given.items():
            echo(f"  {revealed(name)}: {_shown(value)}", err=True)
        while True:
            choice = read_line(f"  [y]es, [n]o{', [e]dit' if is_a_call else ''}: ")
            if choice is None:
                raise Exit
            try:
                match choice.strip().lower()[:1]:
                    case "y" if is_repetition and not confirms_repetition(question["tool"]):
                        continue
                    case "y":
                        self._run(self._client.approve(approval_id))
                    case "n":
                        reason = (read_line("  Reason (sent to the agent, may be empty): ") or "").strip()
                        self._run(self._client.reject(approval_id, reason=reason or None))
                    case "e" if is_a_call:
                        self._run(self._client.approve(approval_id, input=_edited(given)))
                    case _:
                        continue
            except AlreadyDecided as error:
                secho(error.message, err=True, dim=True)
            except Invalid as error:  # the edited input is invalid: ask again
                secho(error.message, err=True, fg="red")
                continue
            return


def _edited(value: Any) -> dict[str, Any]:
    import msgspec

    text = read_line("  input: ", msgspec.json.encode(value).decode())
    try:
        return msgspec.json.decode(text or "", type=dict[str, Any])
    except msgspec.DecodeError:
        raise Invalid("The input must be a JSON object.") from None


def _question_text(question: Question) -> str:
    name = revealed(question["tool"])
    if question["kind"] == UNKNOWN_OUTCOME:
        return f"? The worker died while {name} ran, so it may have taken effect. Call it again?"
    return "? The agent asks" if question["kind"] == "question" else f"? Allow the call of {name}?"


def _shown(value: Any) -> str:
    """Return the whole value, so that the person sees what they decide. Indent text of several lines."""
    import msgspec

    if not isinstance(value, str):
        return revealed(msgspec.json.encode(value).decode())
    lines = revealed(value).splitlines()
    return lines[0] if len(lines) == 1 else "".join(f"\n    {line}" for line in lines)
