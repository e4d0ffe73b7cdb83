"""Reads what a client sends as input: items of a response, or messages of a chat. Pure.

Both become messages in the format of the chat API. The last one is the question, unless the client sends results of
tool calls: those answer a run that waits for them.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from runyard.domain.content.parts import File
from runyard.domain.events import ClientTool
from runyard.engine.intake.content import FileReference
from runyard.engine.intake.inline_files import GivenFile, InlineFile, given_file, inline_file
from runyard.errors import BadRequest

ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
TEXTS = ("input_text", "output_text", "text")
FILES = ("input_image", "input_file", "image_url", "file")
ONLY_TEXT = "This server takes text, images and files in messages of the user, and text elsewhere."
NO_IMAGE = "The data URI of an image has the type of an image, such as data:image/png;base64,..."
NO_FILE = "An image or a file has its bytes as a data URI, or the `file_id` of a file that you uploaded to /api/files."
EARLIER_FILE = "(a file that was sent earlier)"
NO_QUESTION = (
    "The input must end with a message of the user, or with results of the tool calls that the last response asked for."
)
BOTH = "Send the results of tool calls alone. Send the next message when their response is complete."


class Input(Struct, frozen=True):
    """The messages before the question, and the question with its files, or the results of tool calls by call id."""

    earlier: list[dict[str, Any]]
    question: str | None
    results: dict[str, str]
    files: list[GivenFile] = []


def from_items(given: str | Sequence[dict[str, Any]]) -> Input:
    """Read the `input` of a response."""
    if isinstance(given, str):
        return _divided([{"role": "user", "content": given}])
    messages: list[dict[str, Any]] = []
    for item in given:
        messages += _from_item(item)
    return _divided(_merged(messages))


def from_messages(given: Sequence[dict[str, Any]]) -> Input:
    """Read the `messages` of a chat completion."""
    return _divided([_from_message(message) for message in given])


def _from_item(item: dict[str, Any]) -> list[dict[str, Any]]:
    match item.get("type", "message"):
        case "message":
            return [_message(item)]
        case "function_call":
            return [_calls([_call(item.get("call_id"), item.get("name"), item.get("arguments"))])]
        case "function_call_output":
            return [_result(item.get("call_id"), item.get("output"))]
        case "mcp_call":
            call = _call(item.get("id"), item.get("name"), item.get("arguments"))
            return [_calls([call]), _result(item.get("id"), item.get("output") or "")]
        case "reasoning":
            return []  # a model gets no reasoning of earlier turns
        case _:
            raise BadRequest(
                "The input has an item of a type that this server does not take. It takes message, function_call, "
                "function_call_output, mcp_call and reasoning."
            )


def _from_message(message: dict[str, Any]) -> dict[str, Any]:
    if message.get("role") == "tool":
        return _result(message.get("tool_call_id"), message.get("content"))
    role, calls = _role(message), message.get("tool_calls")
    if role != "assistant" or not calls:
        return _message(message)
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise BadRequest("`tool_calls` is a list of objects.")
    read = [_call(call.get("id"), *_function(call)) for call in calls]
    content = message.get("content")
    return {**_calls(read), "content": None if content is None else _text(content)}


def _function(call: dict[str, Any]) -> tuple[Any, Any]:
    function = call.get("function")
    if not isinstance(function, dict):
        raise BadRequest("A tool call has a `function` with `name` and `arguments`.")
    return function.get("name"), function.get("arguments")


def _role(message: dict[str, Any]) -> str:
    role = message.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise BadRequest("A message has one of the roles user, assistant, system, developer and tool.")
    return ROLES[role]


def _message(given: dict[str, Any]) -> dict[str, Any]:
    """Return a message. If it has files, they are beside its text until the question is known."""
    role, content = _role(given), given.get("content")
    if not isinstance(content, list) or role != "user":
        return {"role": role, "content": _text(content)}
    files = [_file(part) for part in content if _is_file(part)]
    text = _text([part for part in content if not _is_file(part)])
    return {"role": role, "content": text, **({"files": files} if files else {})}


def _is_file(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in FILES


def _file(part: dict[str, Any]) -> GivenFile:
    """Read an image or a file, in the format of either API."""
    is_image = part["type"] in ("input_image", "image_url")
    found = part.get("file", part) if part["type"] == "file" else part
    if not isinstance(found, dict):
        raise BadRequest(NO_FILE)
    if isinstance(file_id := found.get("file_id"), str):
        return FileReference(file_id, is_image)
    name = found.get("filename")
    data = found.get("image_url") if is_image else found.get("file_data")
    address = data.get("url") if isinstance(data, dict) else data
    if not isinstance(address, str) or not isinstance(name, str | None):
        raise BadRequest(NO_FILE)
    if not is_image and not address.startswith("data:"):
        return inline_file(address, name, None)
    file = given_file(address, name)
    if is_image and isinstance(file, InlineFile) and not file.type.startswith("image/"):
        raise BadRequest(NO_IMAGE)
    return file


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise BadRequest("The content of a message is a text or a list of parts.")
    return "".join(_part(part) for part in content)


def _part(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "refusal":
        return str(part.get("refusal", ""))
    if not isinstance(kind, str) or kind not in TEXTS:
        raise BadRequest(ONLY_TEXT)
    if not isinstance(part.get("text"), str):
        raise BadRequest("A part of a message has a `text`.")
    return str(part["text"])


def _call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    if not (isinstance(call_id, str) and isinstance(name, str) and isinstance(arguments, str)):
        raise BadRequest("A tool call has an id, a name and arguments, which are texts.")
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _calls(calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _result(call_id: Any, output: Any) -> dict[str, Any]:
    if not isinstance(call_id, str):
        raise BadRequest("The result of a tool call names the call that it is for.")
    return {"role": "tool", "tool_call_id": call_id, "content": _text(output)}


def _merged(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join calls that follow each other, as providers want them: one message with all calls of a turn."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        if merged and "tool_calls" in message and "tool_calls" in merged[-1]:
            merged[-1] = _calls([*merged[-1]["tool_calls"], *message["tool_calls"]])
        else:
            merged.append(message)
    return merged


def _divided(messages: list[dict[str, Any]]) -> Input:
    last = messages[-1] if messages else {}
    files = last.get("files", [])
    messages = [_without_files(message) for message in messages]
    if last.get("role") == "user" and (last["content"] or files):
        return Input(messages[:-1], str(last["content"]), {}, files)
    at = len(messages)
    while at and messages[at - 1]["role"] == "tool":
        at -= 1
    results = {str(each["tool_call_id"]): str(each["content"]) for each in messages[at:]}
    if not results:
        raise BadRequest(NO_QUESTION)
    return Input(messages[:at], None, results)


def _without_files(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message that is not the question: a note stands for each file."""
    files = message.pop("files", [])
    return {**message, "content": " ".join([message["content"], *[EARLIER_FILE] * len(files)])} if files else message


def mixes_results_and_question(given: Input) -> bool:
    """Tell whether results of calls stand directly before the question."""
    return given.question is not None and bool(given.earlier) and given.earlier[-1]["role"] == "tool"


def as_items(
    run_id: str, earlier: Sequence[dict[str, Any]], question: str, files: Sequence[File] = ()
) -> list[dict[str, Any]]:
    """Return messages as items of a response's input, oldest first. The ids are made of the run's. `files` belong to
    the question."""
    items: list[dict[str, Any]] = []
    for message in [*earlier, {"role": "user", "content": question, "files": files}]:
        for item in _as_items(message):
            items.append({"id": f"{item.pop('prefix')}_{run_id}_{len(items)}", **item, "status": "completed"})
    return items


def _as_items(message: dict[str, Any]) -> list[dict[str, Any]]:
    if message["role"] == "tool":
        call_id, output = message["tool_call_id"], message["content"]
        return [{"prefix": "fco", "type": "function_call_output", "call_id": call_id, "output": output}]
    kind = "output_text" if message["role"] == "assistant" else "input_text"
    content = [{"type": kind, "text": message["content"]}]
    content = [part for part in content if part["text"]] + [_file_part(file) for file in message.get("files", ())]
    said = {"prefix": "msg", "type": "message", "role": message["role"], "content": content}
    calls = [
        {"prefix": "fc", "type": "function_call", "call_id": call["id"], **call["function"]}
        for call in message.get("tool_calls") or ()
    ]
    return [said, *calls] if content else calls


def _file_part(file: File) -> dict[str, Any]:
    if file.type.startswith("image/"):
        return {"type": "input_image", "file_id": file.id, "detail": "auto"}
    return {"type": "input_file", "file_id": file.id, "filename": file.name}


def client_tools(given: Sequence[dict[str, Any]]) -> list[ClientTool]:
    """Read the tools of a request, in the format of either API."""
    return [_tool(tool) for tool in given]


def _tool(given: dict[str, Any]) -> ClientTool:
    if given.get("type") != "function":
        raise BadRequest("This server takes tools of the type `function` only. Declare other tools with the agent.")
    function = given.get("function", given)
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise BadRequest("A function has a name.")
    schema = function.get("parameters") or {}
    description = function.get("description") or ""
    if not isinstance(schema, dict) or not isinstance(description, str):
        raise BadRequest("The description of a function is a text, its parameters are a JSON Schema of an object.")
    return ClientTool(str(function["name"]), description, schema)
