"""docs/events.md: every core event, its fields, what it means and what each face makes of it.

Names, fields and sentences are those of `runyard.domain.events`; only what faces make of an event is said here, in
`IMAGES`, and tests compare the columns of the faces that exist with their translations.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from runyard.domain import events
from runyard.domain.events import EVENT_TYPES, PAYLOADS, PROGRESS, TERMINAL, EventType, Payload
from scripts.tables.page import Page


class Images(NamedTuple):
    """The names of an event on each face; None where the face has no word for it."""

    threads: str | None = None
    chats: str | None = None
    contract: str | None = None
    channels: str | None = None
    plans: str = "DebugTrace"


IMAGES: dict[EventType, Images] = {
    "run.queued": Images(None, "interaction_started", "started", "run row `created`", "RunStarted"),
    "run.resumed": Images(None, None, "progress", "log"),
    "message.received": Images(contract="progress"),
    "message.taken": Images(contract="progress"),
    "step.started": Images(None, None, "progress", "run_steps row, span", "NodeStarted"),
    "step.finished": Images(None, None, "progress", "run_steps closed", "NodeFinished"),
    "model.thinking": Images(),
    "model.token": Images("token"),
    "model.reset": Images(threads="token"),
    "model.message": Images(
        None, "thinking (if it has reasoning, or text beside tool calls)", None, "assistant_message"
    ),
    "tool.requested": Images(),
    "approval.requested": Images(None, "approval_required", "progress"),
    "approval.decided": Images(None, "approved / rejected (expired = rejected)", "progress"),
    "wait.requested": Images(contract="progress"),
    "wait.answered": Images(contract="progress"),
    "tool.started": Images("tool_start", "tool_call", "progress", "tool_call_message, span"),
    "tool.output": Images(),
    "tool.finished": Images("tool_end", "tool_result", "progress", "tool_return_message"),
    "run.waiting": Images(None, None, "progress"),
    "trace": Images(None, None, None, "log"),
    "run.output": Images("final", "answer", "(kept for the terminal frame)"),
    "run.error": Images("error", "error", "(kept)"),
    "run.canceled": Images("canceled", "cancelled", "(kept)"),
    "run.finished": Images("state", "interaction_complete", "final (whole envelope)", "agent_done", "RunFinished"),
}

_HEADER = """# Core events

Made by `make docs` from `src/runyard/domain/events/`; do not edit.

A run's log is the source of truth: events `(run_id, seq)`, contiguous from 1, never changed. They are a closed union: a
new kind fails type checking until every face handles it. The log starts with `run.queued` and ends
with `{terminal}`, exactly once, in the transaction that sets the status.

## The envelope

`GET /api/runs/{{id}}/log` shows these fields of every event.

| field | kind | what it is |
|---|---|---|
{envelope}

## The events

`data` by type. A field marked `?` is left out when it has its default. Events marked * are progress: a resume never
repeats what they record, and they reset the count of attempts.

| event | data | what it says |
|---|---|---|
{events}

`usage` is `{{input_tokens, output_tokens, usd}}`, each left out when it is 0.

## Tracebacks

When the code of an agent, a step, a node or a tool raises an exception, the event that records it has a `traceback`:

```json
{{"type": "tool.finished", "data": {{
  "call_id": "refund#1", "tool": "refund", "error": "ValueError",
  "output": "Error executing tool: order 7 is closed",
  "traceback": "Traceback (most recent call last):\\n  File ... in refund\\n ...\\nValueError: order 7 is closed"}}}}
```

- It is one text with line breaks, as Python prints it, with causes and members of groups. It has at most about 16,000
  characters; a longer one loses its middle. It begins with the first frame of the agent's own code. It never
  has values of variables.
- `step.finished` and `tool.finished` have the traceback of their call. `run.error` has the traceback of the error that
  ended the run, also of a failed node, which has no `step.finished`.
- It is left out if no code of the agent raised: a rejected approval, a `ToolError`, a model that does not answer, a
  crash.
- It is content: sealed, redacted and deleted like the rest of `data`. Only the native face (`/log`, and `/state` under
  `steps`, `calls` and `error`), `runyard runs show` and the page show it, to the owner of the run. `runyard dev` also
  prints it on stderr, with the run's id. It is in no log line and on no other face.

## Frames of each face

A face shows an event as one frame, or not at all (-). The pages of [clients/](clients/) have the tables of other faces.

| event | threads | chats | contract | channels | plans |
|---|---|---|---|---|---|
{images}

After a crash the next worker writes unfinished text again. `model.reset` announces this. On the threads face it is a
`token` without text: `{{"text": "", "reset": true, "after": 41}}`. A client then drops the text of every token whose id
is greater than `after`, and continues. So the texts that remain, joined, are `final.text`, wherever the client
attached.

## Versions

| `v` | what it is |
|---|---|
{versions}
"""

_ENVELOPE = {
    "run_id": "the run",
    "seq": "the place in its log, from 1",
    "id": "the event's own id, a UUIDv7",
    "ts": "when it was made, in milliseconds since 1970",
    "type": "one of the names below",
    "v": "the version of the schema of `data`",
    "source": "who wrote it: `api` (a request, or the reaper) or `worker`",
    "name": "the name of a step, in its two events",
    "fn": "the name of a mark, in `trace`",
    "data": "the payload, below",
}


def render() -> str:
    """The whole of docs/events.md."""
    return _HEADER.format(
        terminal=TERMINAL,
        envelope="\n".join(_envelope_row(name, what) for name, what in _ENVELOPE.items()),
        events="\n".join(_event_row(kind) for kind in EVENT_TYPES),
        images="\n".join(_images_row(kind) for kind in EVENT_TYPES),
        versions="\n".join(f"| {v} | {what} |" for v, what in versions().items()),
    )


def fields(kind: type[Payload]) -> list[str]:
    """The names of a payload's fields; those that may be left out end in a question mark."""
    optional = kind.__struct_config__.omit_defaults
    return [
        f"{field.name}?" if field.default is UNSET or (optional and not field.required) else field.name
        for field in msgspec.structs.fields(kind)
    ]


def versions() -> dict[int, str]:
    """The one-line summaries in the docstring of `domain.events`."""
    told = (events.__doc__ or "").partition("Schema versions (`v`):\n")[2]
    return {int(v): what for v, what in re.findall(r"^\s+(\d+)\s+(.+)$", told, re.M)}


def _envelope_row(name: str, what: str) -> str:
    kind = {"seq": "number", "ts": "number", "v": "number", "data": "object"}.get(name, "text")
    optional = "?" if name in ("name", "fn") else ""
    return f"| `{name}{optional}` | {kind} | {what} |"


def _event_row(kind: EventType) -> str:
    payload = PAYLOADS[kind]
    said = " ".join((payload.__doc__ or "").split()).replace("|", "\\|")
    mark = "*" if kind in PROGRESS else ""
    return f"| `{kind}`{mark} | `{{{', '.join(fields(payload))}}}` | {said} |"


def _images_row(kind: EventType) -> str:
    return f"| `{kind}` | {' | '.join(image or '-' for image in IMAGES[kind])} |"


PAGE = Page("events.md", lambda _: render())
