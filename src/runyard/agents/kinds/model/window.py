"""The messages of a request to the model: instructions, earlier runs of the branch, and the run's own messages, within
the tokens that a request may have.

With `context="summarize"` older messages are folded into a summary (`summarizer.py`) when there is no more room. Half
of the room then stays free, so that many messages pass before the next summary. The summary is in the log: the next
runs of the branch begin with it and read only the runs after it, however long the conversation is.

With `context="drop"` an earlier run is included whole or not at all, newest first, while there is room. If the run's
own messages are too long, the run ends as `context_too_long`.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.model_settings import ModelSettings
from runyard.agents.kinds.model.summarizer import summary_tokens
from runyard.agents.kinds.model.tokens import estimate_tokens
from runyard.domain.conversations.thread import Message
from runyard.domain.state.run_state import State
from runyard.domain.state.summary import EarlierRun, Memory, Summary, last_summary, summary_message
from runyard.errors import ContextTooLong

MOST_TOKENS = 100_000  # of the earlier runs, if the agent sets no limit


class RunHistory(Protocol):
    """The parts of a run that a window reads: of an execution, or of a run that has ended."""

    @property
    def message(self) -> Message | None: ...

    @property
    def state(self) -> State: ...

    def earlier_runs(self, limit: int) -> AsyncIterator[list[dict[str, Any]]]: ...

    async def memory(self, known: Summary | None) -> Memory: ...


class Folds(Protocol):
    """Makes summaries: a `Summarizer`."""

    async def fold(
        self, summary: str | None, messages: Sequence[dict[str, Any]], most: int, *, back: int, covers: int = 0
    ) -> str: ...


class Window:
    """The conversation of one run, as the model gets it in `messages`."""

    def __init__(self, agent: Agent, model_settings: ModelSettings, execution: RunHistory, summarizer: Folds) -> None:
        self._settings = model_settings
        self._execution = execution
        self._summarizer = summarizer
        options = execution.state.options
        given = [agent.instructions, None if options is None else options.instructions]
        instructions = "\n\n".join(each for each in given if each)
        self._system = [{"role": "system", "content": instructions}] if instructions else []
        self._question_at = 0 if options is None else len(options.earlier)  # among the run's own messages
        self._question: list[dict[str, Any]] = []
        self._summary: str | None = None
        self._earlier: list[dict[str, Any]] = []
        self._own: list[dict[str, Any]] = []
        self._covered = 0  # how many of its own messages are in the summary

    @property
    def messages(self) -> list[dict[str, Any]]:
        summary = [] if self._summary is None else [summary_message(self._summary)]
        question = self._question if self._covered > self._question_at else []
        return [*self._system, *summary, *self._earlier, *question, *self._own[self._covered :]]

    @property
    def summarizes(self) -> bool:
        return self._settings.context == "summarize"

    @property
    def read(self) -> list[dict[str, Any]]:
        """The messages of the run and of earlier runs, also those that are in the summary by now."""
        return [*self._earlier, *self._own]

    def add(self, messages: Sequence[dict[str, Any]]) -> None:
        """Add messages of this run."""
        self._own += messages

    async def begin(self, own: Sequence[dict[str, Any]]) -> None:
        """Begin with the messages that the run has so far, and with what came before it."""
        self._own = list(own)
        if self._execution.message is not None:
            self._question = self._own[self._question_at : self._question_at + 1]
        if not self.summarizes:
            self._earlier = await self._newest_that_fit()
            return
        known = last_summary(self._execution.state)
        if known is not None and known.back == 0:
            self._summary, self._covered = known.text, known.messages
        elif self._settings.history:
            await self._remember(await self._execution.memory(known))

    async def fit(self) -> None:
        """Fold older messages if the conversation has more tokens than the agent allows. Raise ContextTooLong if that
        does not help."""
        most = self._settings.max_context_tokens
        if most is not None and estimate_tokens(self.messages) > most:
            await self._fold(most)
        self.check()

    async def shrink(self) -> bool:
        """Fold half of the conversation. Return whether there was anything to fold."""
        return self.summarizes and await self._fold(estimate_tokens(self.messages) // 2)

    def check(self) -> None:
        """Raise ContextTooLong if the conversation has more tokens than the agent allows."""
        most = self._settings.max_context_tokens
        if most is not None and estimate_tokens(self.messages) > most:
            raise ContextTooLong(
                f"The conversation is longer than max_context_tokens ({most}) allows. "
                "Raise the limit, or ask with less text."
            )

    async def _fold(self, most: int) -> bool:
        cut = self._cut(most)
        if cut is None or estimate_tokens([*self._system, *self._question, *self._own[cut:]]) > most:
            return False
        folded = [*self._earlier, *self._own[self._covered : cut]]
        self._summary = await self._summarizer.fold(self._summary, folded, most, back=0, covers=cut)
        self._earlier, self._covered = [], cut
        return True

    async def _newest_that_fit(self) -> list[dict[str, Any]]:
        room = self._room
        earlier: list[list[dict[str, Any]]] = []
        if self._settings.history:
            async for conversation in self._execution.earlier_runs(self._settings.history):
                room -= estimate_tokens(conversation)
                if room < 0:
                    break
                earlier.append(conversation)
        return [message for conversation in reversed(earlier) for message in conversation]

    @property
    def _most(self) -> int:
        return self._settings.max_context_tokens or MOST_TOKENS

    @property
    def _room(self) -> int:
        return self._most - estimate_tokens([*self._system, *self._own])

    async def _remember(self, memory: Memory) -> None:
        """Take the earlier runs, and fold the oldest of them if there are too many."""
        self._summary = memory.summary
        runs = list(memory.runs)
        before = [] if memory.summary is None else [summary_message(memory.summary)]
        used = estimate_tokens([*before, *(message for run in runs for message in run.messages)])
        is_over = len(runs) > self._settings.history or any(run.is_over for run in runs)
        if self._room > 0 and (is_over or used > self._room):
            kept = self._count_unfolded(runs)
            folded = [message for run in reversed(runs[kept:]) for message in run.messages]
            if folded:
                self._summary = await self._summarizer.fold(memory.summary, folded, self._most, back=runs[kept].back)
            runs = runs[:kept]
        self._earlier = [message for run in reversed(runs) for message in run.messages]

    def _count_unfolded(self, runs: Sequence[EarlierRun]) -> int:
        """Return how many of the newest runs stay as they are: half of what there is room for."""
        room = self._room - summary_tokens(self._most)
        kept, used = 0, 0
        for run in runs[: max(1, self._settings.history // 2)]:
            used += estimate_tokens(run.messages)
            if run.is_over or used > (room // 2 if kept else room):
                break
            kept += 1
        return kept

    def _cut(self, most: int) -> int | None:
        """Return how many of the run's own messages the next summary covers, or None if there is nothing to fold.

        The last turn stays, and a call stays with its results."""
        places = [at for at in range(self._covered, len(self._own)) if self._own[at]["role"] != "tool"]
        last = max((at for at in places if self._own[at]["role"] == "assistant"), default=self._covered)
        places = [at for at in places if at <= last]
        room = most // 2 - summary_tokens(most)
        cut = next((at for at in places if estimate_tokens(self._own[at:]) <= room), last)
        is_new = cut > self._covered and self._own[self._covered : cut] != self._question
        return cut if is_new or self._earlier else None
