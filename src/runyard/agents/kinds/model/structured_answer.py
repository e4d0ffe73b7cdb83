"""The structured answer of a model agent: check it, and ask the model once to correct it.

A failed check is a step in the log, in the append of the message that it checked. So the correction is not repeated
after a crash, and the next runs of the thread read the same conversation (`domain/state/conversation.py`).
"""

from typing import Any

from runyard.agents.declared.answer_format import AnswerFormat
from runyard.agents.execution import Execution
from runyard.domain.events import StepFinished, StepStarted
from runyard.domain.runs.run import StopReason
from runyard.domain.state.conversation import CHECK_ANSWER, check_key, correction
from runyard.errors import Invalid, InvalidAnswer


class StructuredAnswer:
    """The answer of one run. Without a format, every text is an answer and its value is empty."""

    def __init__(self, format: AnswerFormat | None, execution: Execution) -> None:
        self._format = format
        self._execution = execution
        self._turn: int | None = None  # the turn whose answer had to be corrected
        self._problem = ""
        for step in execution.state.steps:
            if step.name == CHECK_ANSWER and step.error is not None:
                self._turn, self._problem = int(step.key.partition("#")[2]), str(step.result)

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema that the model is asked for."""
        return None if self._format is None else self._format.schema

    def correction(self, turn: int, message: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Return the correction for the message of this turn, or None if the message is the answer.

        It is empty if the model got it before a crash. Raise InvalidAnswer if a corrected answer does not fit."""
        if self._format is None:
            return None
        if self._turn == turn:
            return []
        try:
            self._format.read(_text(message))
        except Invalid as error:
            if self._turn is not None:
                raise InvalidAnswer(f"The answer of the model does not fit. {error.message}") from None
            step = check_key(turn)
            self._execution.emit(StepStarted(step, CHECK_ANSWER))
            self._execution.emit(StepFinished(step, CHECK_ANSWER, result=error.message, error=InvalidAnswer.code))
            self._turn, self._problem = turn, error.message
            return [correction(error.message)]
        return None

    def value(self, why: StopReason, message: dict[str, Any] | None) -> dict[str, Any]:
        """Return the value of the last message. Raise InvalidAnswer if a limit ended the run before there was one."""
        if self._format is None:
            return {}
        reason = f"The run stopped before the model gave an answer that fits ({why}). {self._problem}".rstrip()
        match why:
            case "max_steps" | "max_tokens_exceeded" | "invalid_tool_call":
                raise InvalidAnswer(reason, why)
            case _ if message is None:
                raise InvalidAnswer(reason)
            case _:
                return self._format.read(_text(message))


def _text(message: dict[str, Any]) -> str:
    text = message.get("content")
    return text if isinstance(text, str) else ""
