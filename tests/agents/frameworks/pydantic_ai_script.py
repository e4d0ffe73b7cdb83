"""A scripted model for agents of pydantic-ai."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

Turn = Mapping[str, Any]
Call = tuple[str, Mapping[str, Any]]


class Script(FunctionModel):
    """A model that streams the next of these turns. `seen` has the messages of each request."""

    def __init__(self, *turns: Turn) -> None:
        self.seen: list[list[ModelMessage]] = []

        async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
            self.seen.append(list(messages))
            turn = turns[_responses_since_the_question(messages)]
            for piece in turn.get("text", ()):
                yield piece
            for place, (tool, given) in enumerate(turn.get("calls", ())):
                yield {place + 9: DeltaToolCall(tool, json.dumps(given), tool_call_id=f"call_{len(messages)}_{place}")}

        super().__init__(stream_function=stream, model_name="script")


def _responses_since_the_question(messages: list[ModelMessage]) -> int:
    asked = max(n for n, m in enumerate(messages) if any(_is_question(part) for part in m.parts))
    return sum(isinstance(message, ModelResponse) for message in messages[asked:])


def _is_question(part: object) -> bool:
    return isinstance(part, UserPromptPart) and isinstance(part.content, str)


def calls(*wanted: Call, **more: Any) -> Turn:
    return {"calls": wanted, **more}


DONE: Turn = {"text": ["All ", "done."]}
