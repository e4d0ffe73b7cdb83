"""Imports what pods with `framework_app.py` need, and builds what these libraries build when they are used first."""

from openai.types.chat import ChatCompletionChunk
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import runyard.agents.pydantic_ai.recording  # noqa: F401
from runyard.agents.pydantic_ai import messages

OpenAIChatModel("gpt-5-mini", provider=OpenAIProvider(base_url="http://127.0.0.1:1/v1", api_key="none"))
messages.response_from(messages.response_as_json(ModelResponse([TextPart("x")])))
messages.usage_of(ModelResponse([TextPart("x")], model_name="gpt-5-mini", provider_name="openai"))
ChatCompletionChunk.model_validate(
    {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
)
