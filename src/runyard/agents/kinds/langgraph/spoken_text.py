"""The text of a graph's models: one message after another, as followers of the run see it.

Nodes may run at the same time. The message that began first is shown as it is written; others are held until it has
ended. After a crash, text of a node that did not finish may be in the log, kept by a result of another node or tool.
When the node writes it again, the equal part is not shown twice.
"""

from runyard.agents.context.context import Context
from runyard.domain.state.run_state import State

BETWEEN_MESSAGES = "\n\n"


class SpokenText:
    """The text of one execution."""

    def __init__(self, context: Context, state: State, has_unfinished: bool) -> None:
        kept = state.text[: state.kept_text]
        finished = [step.text_to for step in state.steps if step.finished and step.text_to > step.text_from]
        self._context = context
        self._before = kept
        self._unfinished = kept[max(finished, default=0) :] if has_unfinished else ""  # of nodes that will run again
        self._is_first = len(self._unfinished) == len(kept)  # whether no text comes before it
        self._speaker: str | None = None
        self._repeated = ""  # of the speaker's message: text that is in the log already
        self._held_pieces: dict[str, list[str]] = {}
        self._ended: set[str] = set()
        self._started: set[str] = set()

    def all(self) -> str:
        """Return all text of the run."""
        return self._before + self._context.written()

    async def say(self, message: str, piece: str) -> None:
        """Add a piece to a message, by the message's id."""
        if not piece:
            return
        if self._speaker is None:
            self._speaker = message
        if self._speaker != message:
            self._held_pieces.setdefault(message, []).append(piece)
            return
        if message not in self._started:
            self._started.add(message)
            if self._has_text_before():
                piece = BETWEEN_MESSAGES + piece
        await self._show(piece)

    async def end(self, message: str) -> None:
        """End a message, and show what others wrote meanwhile."""
        if self._speaker != message:
            self._ended.add(message)
            return
        self._unfinished = self._repeated = ""
        self._context.flush_text()
        self._speaker = None
        if self._held_pieces:
            following = next(iter(self._held_pieces))
            await self.say(following, "".join(self._held_pieces.pop(following)))
            if following in self._ended:
                await self.end(following)

    def _has_text_before(self) -> bool:
        if self._unfinished and not self._repeated:
            return not self._is_first
        return bool(self._before or self._context.written())

    async def _show(self, piece: str) -> None:
        """Show a piece, unless the log has it already."""
        if self._unfinished:
            if self._unfinished.startswith(piece):
                self._repeated += piece
                self._unfinished = self._unfinished[len(piece) :]
                return
            if piece.startswith(self._unfinished):
                piece = piece[len(self._unfinished) :]
            else:
                piece = BETWEEN_MESSAGES + (self._repeated + piece).removeprefix(BETWEEN_MESSAGES)
            self._unfinished = ""
        await self._context.token(piece)
