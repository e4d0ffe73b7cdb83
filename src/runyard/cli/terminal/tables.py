"""Tables of runs, approvals, waits and keys for a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from runyard.cli.terminal.output import echo, style
from runyard.cli.terminal.results import print_json
from runyard.cli.terminal.text import (
    STATUS_COLOURS,
    age,
    duration,
    money,
    one_line,
    plain,
    revealed,
    span,
    tokens,
    until,
)
from runyard.cli.terminal.text_table import TextTable
from runyard.client.wire import ApprovalInfo, KeyInfo, RunInfo, WaitInfo

WIDTH_OF_AN_ID = 36
QUESTION = 100  # characters of a question in a list


def runs_table(runs: Sequence[RunInfo]) -> TextTable:
    """Return the list of runs. It has a column of errors only if a run failed."""
    has_errors = any(run.error_code or run.error for run in runs)
    names = ["run", "agent", "status", "age", "took", "tokens", "cost", *(["error"] if has_errors else []), "question"]
    made = TextTable(*names, wraps=[7, 8] if has_errors else [7])
    for run in runs:
        made.add_row(
            run.run_id,
            plain(run.agent or ""),
            coloured("waiting" if run.waiting else run.status),
            age(run.created_at),
            duration(run.started_at, run.finished_at),
            tokens(run.usage.tokens),
            money(run.usage.usd),
            *([_error(run)] if has_errors else []),
            one_line(run.question or "", QUESTION),
        )
    return made


def _error(run: RunInfo) -> str:
    return one_line(run.error_code or run.error or "")


def print_run(run: RunInfo, state: Mapping[str, Any]) -> None:
    made = TextTable("", "", wraps=[1], narrowest=WIDTH_OF_AN_ID, header=False)
    # the state has `waiting`, where the run says running
    status, reason = str(state.get("status", run.status)), state.get("stop_reason")
    made.add_row("run", run.run_id)
    made.add_row("thread", run.thread_id or "-")
    if run.parent_run_id:
        made.add_row("child of", run.parent_run_id)
    made.add_row("agent", plain(str(state.get("agent") or "-")))
    made.add_row("status", coloured(status) + (f" ({reason})" if reason else ""))
    made.add_row("age", age(run.created_at))
    made.add_row("took", duration(run.started_at, run.finished_at))
    made.add_row("usage", usage_text(state.get("usage") or {}))
    made.add_row("events", str(state.get("last_seq", "-")))
    if run.question:
        made.add_row("question", one_line(run.question, 300))
    for what, said in _steps_and_calls(state):
        made.add_row(what, said)
    if run.error:
        made.add_row("error", plain(run.error))
    text = (state.get("output") or {}).get("text") or state.get("text")
    if text:
        made.add_row("answer", plain(text))
    if run.feedback is not None:
        said = f": {run.feedback.comment}" if run.feedback.comment else ""
        made.add_row("feedback", plain(run.feedback.value + said))
    made.echo()
    for what, raised in _tracebacks(state):
        echo(f"\n{style(plain(what), dim=True)}\n{plain(raised)}")


def usage_text(usage: Mapping[str, Any]) -> str:
    """Return tokens and cost in one line."""
    read, written = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
    if not read and not written:
        return "-"
    cost = f", {money(usage['usd'])}" if usage.get("usd") else ""
    return f"{tokens(read)} tokens in, {tokens(written)} out{cost}"


def _steps_and_calls(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a name and a line for every step and tool call, in the order in which they started."""
    lines: list[tuple[int, str, str]] = []
    for step in state.get("steps", ()):
        outcome = f"failed: {step['error']}" if step.get("error") else "finished" if step.get("finished") else "started"
        spent = usage_text(step.get("usage") or {})
        cost = "" if spent == "-" else f", {spent}"
        lines.append((step.get("started_seq") or 0, "step", f"{plain(step['name'])} {outcome}{cost}"))
    for call in state.get("calls", ()):
        took = "" if call.get("ms") is None else f" in {span(call['ms'] / 1000)}"
        outcome = f"failed: {call['error']}" if call.get("error") else f"{call['status']}{took}"
        seq = call.get("started_seq") or state.get("last_seq", 0)
        lines.append((seq, "tool", f"{revealed(call['tool'])} {outcome} {one_line(call.get('input'), safe=revealed)}"))
    return ((what, said) for _, what, said in sorted(lines, key=lambda line: line[0]))


def _tracebacks(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a title and a traceback for every exception of steps, of tools and of the agent."""
    for step in state.get("steps", ()):
        if step.get("traceback"):
            yield f"step {step['name']} raised", step["traceback"]
    for call in state.get("calls", ()):
        if call.get("traceback"):
            yield f"tool {call['tool']} raised", call["traceback"]
    if (state.get("error") or {}).get("traceback"):
        yield "the agent raised", state["error"]["traceback"]


def approvals_table(approvals: Iterable[ApprovalInfo]) -> TextTable:
    made = TextTable("approval", "agent", "tool", "kind", "age", "run", "message", "input", wraps=[6, 7])
    for approval in approvals:
        made.add_row(
            approval.approval_id,
            plain(approval.agent or "-"),
            revealed(approval.tool),
            approval.kind,
            age(approval.created_at),
            approval.run_id,
            one_line(approval.question or "-", QUESTION),
            one_line(approval.input, 200, revealed),
        )
    return made


def waits_table(waits: Iterable[WaitInfo]) -> TextTable:
    made = TextTable("wait", "kind", "age", "asked", wraps=[3], narrowest=14)  # fits into 80 columns
    for wait in waits:
        asked = one_line(wait.prompt or f"{revealed(wait.name)} {one_line(wait.input, safe=revealed)}")
        made.add_row(wait.wait_id, wait.kind, age(wait.created_at), asked)
    return made


def print_wait(wait: WaitInfo, *, json: bool = False, quiet: bool = False) -> None:
    """Print a wait with its whole input; with `quiet` only its state."""
    if json:
        print_json(wait)
    elif quiet:
        echo(wait.state)
    else:
        _wait_table(wait).echo()


def _wait_table(wait: WaitInfo) -> TextTable:
    made = TextTable("", "", wraps=[1], narrowest=WIDTH_OF_AN_ID, header=False)
    made.add_row("approval" if wait.is_approval else "wait", wait.wait_id)
    made.add_row("run", wait.run_id)
    if wait.agent:
        made.add_row("agent", plain(wait.agent))
    if wait.question:
        made.add_row("message", plain(wait.question))
    made.add_row("kind", wait.kind)
    made.add_row("state", wait.state)
    made.add_row("age", age(wait.created_at))
    if wait.expires_at is not None:
        made.add_row("expires in", until(wait.expires_at) or "-")
    if wait.prompt:
        made.add_row("question", plain(wait.prompt))
    else:
        made.add_row("tool", revealed(wait.name))
    for name, value in (("input", wait.input), ("schema", wait.answer_schema)):
        if value is not None:
            made.add_row(name, revealed(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()))
    return made


def keys_table(keys: Iterable[KeyInfo]) -> TextTable:
    made = TextTable("key", "owner", "scopes", "age", "used", "state", "label", wraps=[6])
    for key in keys:
        made.add_row(
            key.key_id,
            plain(key.owner),
            " ".join(key.scopes),
            age(key.created_at),
            "never" if key.last_used_at is None else f"{age(key.last_used_at)} ago",
            _state(key),
            one_line(key.label),
        )
    return made


def _state(key: KeyInfo) -> str:
    if key.revoked_at is not None:
        return style("revoked", fg="red")
    if key.expires_at is None:
        return "valid"
    left = until(key.expires_at)
    return f"valid for {left}" if left else style("expired", fg="yellow")


def without_key(key: KeyInfo) -> dict[str, Any]:
    """Return the fields of a key that may be printed."""
    return {name: value for name, value in msgspec.structs.asdict(key).items() if name != "key"}


def coloured(status: str) -> str:
    return style(status, fg=STATUS_COLOURS.get(status))
