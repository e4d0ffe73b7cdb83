"""Requests, responses and errors of the OpenAI face.

An agent has its own model and settings, so parameters that tune a model are accepted and ignored. Parameters that
would change the form of the answer are refused, see `refuse_unsupported`.
"""

from typing import Any, Literal

from pydantic import BaseModel, Field

from runyard.base.fields import RequestBody
from runyard.errors import BadRequest, NotFound

MOST_ITEMS = 10_000
Ignored = Field(None, description="Accepted and ignored: the agent has its own settings.")
NOT_SUPPORTED = "Not supported. Leave it out."
Refused = Field(None, description=NOT_SUPPORTED)
Metadata = Field(None, max_length=16, description="Your own names and texts. They are returned unchanged.")
Items = list[dict[str, Any]]


class ConversationName(RequestBody):
    id: str


class NewResponse(RequestBody):
    model: str | None = Field(None, description="The name of an agent; the default agent if left out.")
    input: str | Items = Field(min_length=1, max_length=None, description="A text, or a list of items.")
    instructions: str | None = Field(None, description="Added to the instructions of the agent, for this response.")
    previous_response_id: str | None = Field(None, description="The response to continue from.")
    conversation: str | ConversationName | None = Field(None, description="The conversation to continue.")
    tools: Items | None = Field(None, max_length=128, description="Functions that the client calls for the agent.")
    tool_choice: Any = Field(None, description="`auto`, or `none` for no functions of the client.")
    stream: bool | None = Field(None, description="Answer with a stream of events.")
    background: bool | None = Field(None, description="Answer at once; retrieve the response later.")
    metadata: dict[str, str] | None = Metadata
    max_output_tokens: int | None = Field(None, ge=1, le=2**31)
    text: dict[str, Any] | None = Field(None, description="Only the format `text` is supported.")
    store: bool | None = Field(None, description="Ignored: every response is stored until its retention ends.")
    temperature: Any = Ignored
    top_p: Any = Ignored
    parallel_tool_calls: Any = Ignored
    reasoning: Any = Ignored
    include: Any = Ignored
    truncation: Any = Ignored
    service_tier: Any = Ignored
    user: Any = Ignored
    safety_identifier: Any = Ignored
    prompt_cache_key: Any = Ignored
    prompt_cache_options: Any = Ignored
    prompt_cache_retention: Any = Ignored
    stream_options: Any = Ignored
    access_programs: Any = Ignored
    context_management: Any = Refused
    image: Any = Refused
    max_tool_calls: Any = Refused
    moderation: Any = Refused
    prompt: Any = Refused
    top_logprobs: Any = Refused


class StreamOptions(RequestBody):
    include_usage: bool | None = Field(None, description="End the stream with a chunk that has the usage.")
    include_obfuscation: Any = Ignored


class NewCompletion(RequestBody):
    model: str = Field(description="The name of an agent.")
    messages: Items = Field(min_length=1, max_length=MOST_ITEMS)
    tools: Items | None = Field(None, max_length=128, description="Functions that the client calls for the agent.")
    tool_choice: Any = Field(None, description="`auto`, or `none` for no functions of the client.")
    stream: bool | None = Field(None, description="Answer with a stream of chunks.")
    stream_options: StreamOptions | None = None
    metadata: dict[str, str] | None = Metadata
    max_completion_tokens: int | None = Field(None, ge=1, le=2**31)
    max_tokens: int | None = Field(None, ge=1, le=2**31)
    n: Literal[1] | None = Field(None, description="One choice only.")
    response_format: dict[str, Any] | None = Field(None, description="Only the type `text` is supported.")
    modalities: list[Literal["text"]] | None = Field(None, description="Text only.")
    store: bool | None = Field(None, description="Ignored: every run is stored until its retention ends.")
    frequency_penalty: Any = Ignored
    logit_bias: Any = Ignored
    parallel_tool_calls: Any = Ignored
    prediction: Any = Ignored
    presence_penalty: Any = Ignored
    prompt_cache_key: Any = Ignored
    prompt_cache_options: Any = Ignored
    prompt_cache_retention: Any = Ignored
    reasoning_effort: Any = Ignored
    safety_identifier: Any = Ignored
    seed: Any = Ignored
    service_tier: Any = Ignored
    temperature: Any = Ignored
    top_p: Any = Ignored
    user: Any = Ignored
    verbosity: Any = Ignored
    audio: Any = Refused
    function_call: Any = Refused
    functions: Any = Refused
    logprobs: Any = Refused
    moderation: Any = Refused
    stop: Any = Refused
    top_logprobs: Any = Refused
    web_search_options: Any = Refused


def refuse_unsupported(body: NewResponse | NewCompletion) -> None:
    """Raise BadRequest for parameters that would change the form of the answer."""
    for name, field in type(body).model_fields.items():
        if field.description == NOT_SUPPORTED and getattr(body, name) not in (None, False, 0, []):
            raise BadRequest(f"This server does not support `{name}`. Leave it out.")
    if isinstance(body, NewResponse):
        name, form = "text.format", (body.text or {}).get("format")
    else:
        name, form = "response_format", body.response_format
    if form is not None and (not isinstance(form, dict) or form.get("type") != "text"):
        raise BadRequest(f"This server supports only the type `text` for `{name}`.")
    if body.tool_choice not in (None, "auto", "none"):
        raise BadRequest("This server supports only `auto` and `none` for `tool_choice`: the agent chooses its tools.")


class Error(BaseModel):
    message: str = Field(description="What is wrong and what to do, for people.")
    type: str
    param: str | None = Field(description="The invalid part of the request.")
    code: str | None = Field(description="The error, for programs.")


class ErrorResponse(BaseModel):
    error: Error


class Model(BaseModel):
    id: str = Field(description="The name of the agent.")
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "runyard"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[Model]


class NewConversation(RequestBody):
    items: Items | None = Field(None, max_length=0, description="Not supported: send them with the first response.")
    metadata: dict[str, str] | None = Field(None, max_length=0, description="Not supported: use that of responses.")


class Conversation(BaseModel):
    id: str
    object: Literal["conversation"] = "conversation"
    created_at: int
    metadata: dict[str, str] = {}


class Deleted(BaseModel):
    id: str
    object: str
    deleted: Literal[True] = True


class ItemList(BaseModel):
    object: Literal["list"] = "list"
    data: Items
    first_id: str | None
    last_id: str | None
    has_more: bool


class ModelNotFound(NotFound):
    """This server declares no agent with the name in `model`. `GET /v1/models` lists them."""

    code = "model_not_found"
