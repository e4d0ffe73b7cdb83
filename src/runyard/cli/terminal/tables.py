"""Tables of runs, approvals and keys for a terminal, and JSON for programs."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from runyard.cli.terminal.output import echo, style
from runyard.cli.terminal.text import STATUS_COLOURS, age, duration, one_line, plain, until
from runyard.cli.terminal.text_table import TextTable
from runyard.client.wire import ApprovalInfo, KeyInfo, RunInfo, WaitInfo

WIDTH_OF_AN_ID = 36


def print_json(value: object) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_runs(runs: Iterable[RunInfo]) -> None:
    made = TextTable("run", "agent", "status", "age", "took", "events", "error", wraps=[6])
    for run in runs:
        made.add_row(
            run.run_id,
            plain(run.agent or ""),
            coloured("waiting" if run.waiting else run.status),
            age(run.created_at),
            duration(run.started_at, run.finished_at),
            str(run.last_seq),
            one_line(run.error or ""),
        )
    made.echo("No runs")


def print_run(run: RunInfo, state: Mapping[str, Any]) -> None:
    made = TextTable("", "", wraps=[1], narrowest=WIDTH_OF_AN_ID, header=False)
    # the state has `waiting`, where the run says running
    status, reason = str(state.get("status", run.status)), state.get("stop_reason")
    made.add_row("run", run.run_id)
    made.add_row("thread", run.thread_id or "-")
    made.add_row("agent", plain(str(state.get("agent") or "-")))
    made.add_row("status", coloured(status) + (f" ({reason})" if reason else ""))
    made.add_row("age", age(run.created_at))
    made.add_row("took", duration(run.started_at, run.finished_at))
    made.add_row("events", str(state.get("last_seq", "-")))
    for step in state.get("steps", ()):
        outcome = f"failed: {step['error']}" if step.get("error") else "finished" if step.get("finished") else "started"
        made.add_row("step", f"{plain(step['name'])} {outcome}")
    for call in state.get("calls", ()):
        made.add_row("tool", f"{plain(call['tool'])} {call['status']} {one_line(call.get('input'))}")
    if run.error:
        made.add_row("error", plain(run.error))
    text = (state.get("output") or {}).get("text") or state.get("text")
    if text:
        made.add_row("answer", plain(text))
    made.echo()
    for what, raised in _tracebacks(state):
        echo(f"\n{style(plain(what), dim=True)}\n{plain(raised)}")


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


def print_approvals(approvals: Iterable[ApprovalInfo]) -> None:
    made = TextTable("approval", "run", "tool", "kind", "age", "input", wraps=[5])
    for approval in approvals:
        made.add_row(
            approval.approval_id,
            approval.run_id,
            plain(approval.tool),
            approval.kind,
            age(approval.created_at),
            one_line(approval.input),
        )
    made.echo("No pending approvals")


def print_waits(waits: Iterable[WaitInfo]) -> None:
    made = TextTable("wait", "kind", "age", "asked", wraps=[3], narrowest=14)  # fits into 80 columns
    for wait in waits:
        asked = wait.prompt or f"{wait.name} {one_line(wait.input)}"
        made.add_row(wait.wait_id, wait.kind, age(wait.created_at), one_line(asked))
    made.echo("No run waits for a person or a client")


def print_wait(wait: WaitInfo) -> None:
    made = TextTable("", "", wraps=[1], narrowest=WIDTH_OF_AN_ID, header=False)
    made.add_row("wait", wait.wait_id)
    made.add_row("run", wait.run_id)
    made.add_row("kind", wait.kind)
    made.add_row("state", wait.state)
    made.add_row("age", age(wait.created_at))
    if wait.expires_at is not None:
        made.add_row("expires in", until(wait.expires_at) or "-")
    if wait.prompt:
        made.add_row("question", plain(wait.prompt))
    else:
        made.add_row("tool", plain(wait.name))
    for name, value in (("input", wait.input), ("schema", wait.answer_schema)):
        if value is not None:
            made.add_row(name, plain(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()))
    made.echo()


def print_keys(keys: Iterable[KeyInfo]) -> None:
    made = TextTable("key", "owner", "scopes", "label", "age", "used", "state")
    for key in keys:
        made.add_row(
            key.key_id,
            plain(key.owner),
            " ".join(key.scopes),
            one_line(key.label),
            age(key.created_at),
            "never" if key.last_used_at is None else f"{age(key.last_used_at)} ago",
            _state(key),
        )
    made.echo("No keys")


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
