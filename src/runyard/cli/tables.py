"""Tables of runs, approvals and keys for a terminal, and JSON for programs."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from runyard.cli.terminal_text import STATUS_COLOURS, age, duration, one_line, plain, until
from runyard.client.wire import ApprovalInfo, KeyInfo, RunInfo

WIDTH_OF_AN_ID = 36
WRAPPED = 20  # the least width of a column that may wrap


def console() -> Console:
    """Return a console for stdout; for a file or a pipe it has 200 columns."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def show(made: Table, if_empty: str = "") -> None:
    """Print a table. Ids are never cut: in a narrow terminal the lines are longer than the terminal is wide."""
    shown = console()
    if not made.rows:
        shown.print(f"[dim]{if_empty}[/]")
        return
    needed = sum(_least_width(column) + 2 for column in made.columns)
    if needed > shown.width:
        shown = Console(highlight=False, width=needed)
    shown.print(made)


def _least_width(column: Column) -> int:
    """Return the least width of a column: that of its widest cell, unless it may wrap."""
    if not column.no_wrap:
        return column.min_width or WRAPPED
    cells = [column.header, *column.cells]
    return max(Text.from_markup(str(cell)).cell_len for cell in cells)


def table(*columns: str) -> Table:
    made = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        made.add_column(column, no_wrap=column not in {"error", "input"}, overflow="fold")
    return made


def print_json(value: object) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_runs(runs: Iterable[RunInfo]) -> None:
    made = table("run", "agent", "status", "age", "took", "events", "error")
    for run in runs:
        made.add_row(
            run.run_id,
            escape(plain(run.agent or "")),
            coloured("waiting" if run.waiting else run.status),
            age(run.created_at),
            duration(run.started_at, run.finished_at),
            str(run.last_seq),
            escape(one_line(run.error or "")),
        )
    show(made, "No runs")


def print_run(run: RunInfo, state: Mapping[str, Any]) -> None:
    made = Table(box=None, show_header=False, pad_edge=False)
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold", min_width=WIDTH_OF_AN_ID)
    # the state has `waiting`, where the run says running
    status, reason = str(state.get("status", run.status)), state.get("stop_reason")
    made.add_row("run", run.run_id)
    made.add_row("thread", run.thread_id or "-")
    made.add_row("agent", escape(plain(str(state.get("agent") or "-"))))
    made.add_row("status", coloured(status) + (f" ({reason})" if reason else ""))
    made.add_row("age", age(run.created_at))
    made.add_row("took", duration(run.started_at, run.finished_at))
    made.add_row("events", str(state.get("last_seq", "-")))
    for step in state.get("steps", ()):
        outcome = f"failed: {step['error']}" if step.get("error") else "finished" if step.get("finished") else "started"
        made.add_row("step", escape(f"{plain(step['name'])} {outcome}"))
    for call in state.get("calls", ()):
        made.add_row("tool", escape(f"{plain(call['tool'])} {call['status']} {one_line(call.get('input'))}"))
    if run.error:
        made.add_row("error", escape(plain(run.error)))
    text = (state.get("output") or {}).get("text") or state.get("text")
    if text:
        made.add_row("answer", escape(plain(text)))
    show(made)
    for what, raised in _tracebacks(state):
        console().print(f"\n[dim]{escape(plain(what))}[/]\n{escape(plain(raised))}", soft_wrap=True)


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
    made = table("approval", "run", "tool", "kind", "age", "input")
    for approval in approvals:
        made.add_row(
            approval.approval_id,
            approval.run_id,
            escape(plain(approval.tool)),
            approval.kind,
            age(approval.created_at),
            escape(one_line(approval.input)),
        )
    show(made, "No pending approvals")


def print_keys(keys: Iterable[KeyInfo]) -> None:
    made = table("key", "owner", "scopes", "label", "age", "used", "state")
    for key in keys:
        made.add_row(
            key.key_id,
            escape(plain(key.owner)),
            " ".join(key.scopes),
            escape(one_line(key.label)),
            age(key.created_at),
            "never" if key.last_used_at is None else f"{age(key.last_used_at)} ago",
            _state(key),
        )
    show(made, "No keys")


def _state(key: KeyInfo) -> str:
    if key.revoked_at is not None:
        return "[red]revoked[/]"
    if key.expires_at is None:
        return "valid"
    left = until(key.expires_at)
    return f"valid for {left}" if left else "[yellow]expired[/]"


def without_key(key: KeyInfo) -> dict[str, Any]:
    """Return the fields of a key that may be printed."""
    return {name: value for name, value in msgspec.structs.asdict(key).items() if name != "key"}


def coloured(status: str) -> str:
    colour = STATUS_COLOURS.get(status)
    return f"[{colour}]{status}[/]" if colour else status
