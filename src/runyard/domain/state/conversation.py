"""A run as messages for a model: messages that the client supplied, the question, the model's messages, and the result
of every tool call. A message that came while the run was under way has the place where the agent took it. An answer
that did not fit its schema is followed by the correction that the model got.

They are made from the folded log alone, so a checkpoint, a fork at any seq and the next run of a thread start from the
same messages. Every tool call has exactly one result. If the log has none, because the run was cut off, the result says
so: a provider refuses a conversation with an unanswered call.

For agents that are not models the question and the text of the answer are used. Partial text of a run that was cut off
is not part of the conversation.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from runyard.domain.content.parts import model_content, references
from runyard.domain.state.run_state import CallState, State, WaitState

NOT_MADE = "The run was stopped before this call was made."
NO_RESULT = "The run was stopped during this call. Whether it took effect is not known."
TOOL_FILES = "The files that the tools returned:"
UNKNOWN = "The call had begun when its worker died. Whether it took effect is not known, and it was not repeated."
CHECK_ANSWER = "check_answer"  # the name of the step that records an answer that does not fit


def messages(state: State, question: str | list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Return the messages of one run in the format of OpenAI's chat API, without a system message. Files are references
    (`content.model_content`)."""
    said: list[dict[str, Any]] = [] if state.options is None else list(state.options.earlier)
    if question is not None:
        said.append({"role": "user", "content": question})
    problems = {step.key: str(step.result) for step in state.steps if step.name == CHECK_ANSWER and step.error}
    for turn, message in enumerate(state.messages):
        said += taken_messages(state, turn)
        if message.get("content") or call_ids(message):  # providers refuse an empty message
            said.append(message)
        said += results_of(state, message)
        if (problem := problems.get(check_key(turn + 1))) is not None:
            said.append(correction(problem))
    said += taken_messages(state, len(state.messages))
    if not state.messages and state.output is not None and state.output.text:
        said.append({"role": "assistant", "content": state.output.text})
    return said


def results_of(state: State, message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of the calls in an assistant message, and the files among them."""
    ids = call_ids(message)
    if not ids:
        return []
    calls = {call.call_id: call for call in state.calls if call.call_id in ids}
    results = [tool_message(call_id, calls.get(call_id), decision(state, call_id)) for call_id in ids]
    return [*results, *tool_files([calls[call_id].output for call_id in ids if call_id in calls])]


def taken_messages(state: State, turn: int) -> list[dict[str, Any]]:
    """Return the user's messages that the agent took when the model had written `turn` messages."""
    taken = [each for each in state.received if each.after == turn]
    return [{"role": "user", "content": model_content(each.text, each.parts)} for each in taken]


def tool_files(outputs: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the files of tool results as a message of the user. Most providers take only text as the result of a
    tool."""
    found = [file for output in outputs for file in references(output)]
    return [{"role": "user", "content": [{"type": "text", "text": TOOL_FILES}, *found]}] if found else []


def check_key(turn: int) -> str:
    """Return the key of the step that checked the answer of this turn."""
    return f"answer#{turn}"


def correction(problem: str) -> dict[str, Any]:
    """Return the message that asks a model for an answer that fits its schema."""
    text = f"Your answer does not fit. {problem} Answer again with one JSON object that fits, and with nothing else."
    return {"role": "user", "content": text}


def call_ids(message: dict[str, Any]) -> list[str]:
    """Return the ids of the tool calls in an assistant message, in order."""
    return [call["id"] for call in message.get("tool_calls") or ()]


def decision(state: State, call_id: str) -> WaitState | None:
    """Return the decided approval of this call, or None."""
    for question in state.waits.values():
        if question.call_id == call_id and question.kind == "tool" and question.answered_seq is not None:
            return question
    return None


def tool_message(call_id: str, call: CallState | None, decided: WaitState | None = None) -> dict[str, Any]:
    """Return the tool message with the result of one call."""
    return {"role": "tool", "tool_call_id": call_id, "content": _result(call, decided)}


def _result(call: CallState | None, decided: WaitState | None) -> str:
    if call is not None and call.status == "finished":
        return _edited(call) + _text(call)
    if call is not None and call.started_seq is not None:
        return NO_RESULT
    if decided is not None and decided.state in ("rejected", "expired"):
        return refusal(decided)
    return NOT_MADE


def refusal(decided: WaitState) -> str:
    """Return the text that a model gets for a call that a person rejected or that was not decided in time."""
    said = "A person rejected this call" if decided.state == "rejected" else "This call was not decided in time"
    return f"{said}; it was not made." + (f" Reason: {decided.reason}" if decided.reason else "")


def _edited(call: CallState) -> str:
    if call.started_seq is None or call.asked is None or _json(call.asked) == _json(call.input):
        return ""
    return f"A person changed the input of this call to {_json(call.input)}.\n"


def _text(call: CallState) -> str:
    if call.error is not None and call.output is None:
        return UNKNOWN if call.error == "unknown_outcome" else f"Error executing tool: {call.error}"
    return call.output if isinstance(call.output, str) else _json(call.output)


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
