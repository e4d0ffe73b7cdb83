"""Imports what pods with `framework_app.py` need, and builds the types that these libraries build at first use."""

import agents
import pydantic_ai.mcp  # noqa: F401
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from openai.types import responses
from openai.types.chat import ChatCompletionChunk
from pydantic import SecretStr
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import runyard.agents.kinds.langgraph.graph_run
import runyard.agents.kinds.openai_agents.recording
import runyard.agents.kinds.pydantic_ai.recording  # noqa: F401
from runyard.agents.kinds.openai_agents import messages as items
from runyard.agents.kinds.pydantic_ai import messages
from runyard.domain.events import Usage

ADDRESS = "http://127.0.0.1:1/v1"
TYPES = """
    Response ResponseCompletedEvent ResponseContentPartAddedEvent ResponseContentPartDoneEvent ResponseCreatedEvent
    ResponseFunctionCallArgumentsDeltaEvent ResponseFunctionToolCall ResponseOutputItemAddedEvent
    ResponseOutputItemDoneEvent ResponseOutputMessage ResponseOutputText ResponseTextDeltaEvent ResponseUsage
"""

OpenAIChatModel("gpt-5-mini", provider=OpenAIProvider(openai_client=AsyncOpenAI(base_url=ADDRESS, api_key="none")))
messages.response_from(messages.response_as_json(ModelResponse([TextPart("x")])))
messages.usage_of(ModelResponse([TextPart("x")], model_name="gpt-5-mini", provider_name="openai"))
ChatCompletionChunk.model_validate(
    {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
)
for name in TYPES.split():
    getattr(responses, name).model_rebuild()
agents.function_tool(lambda: "", name_override="x")
items.response_from(items.response_as_json([], None, Usage(), ()))
ChatOpenAI(model_name="gpt-5-mini", openai_api_base=ADDRESS, openai_api_key=SecretStr("none")).bind_tools([])
