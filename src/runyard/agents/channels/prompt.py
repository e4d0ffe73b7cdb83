"""The prompt of an agent in a channel or DM: five parts, always in the same order.

1. the persona, byte for byte as stored; 2. the memory blocks, each as `### {label}` and its content; 3. the last
messages of the conversation, oldest first; 4. how to speak; 5. that the agent may stay silent. Pure: the caller loads
the blocks and the messages of this conversation.
"""

from collections.abc import Sequence

from msgspec import Struct

from runyard.domain.content.memory import Block

LAST_MESSAGES = 20
MESSAGES = "## Recent messages"
NO_MESSAGES = "Nothing has been said here yet."
HOW_TO_SPEAK = """## How to speak
Use the tool `send_message` to say something. It is the only way to be heard: never answer with raw text, it is not \
delivered. You can react to a message with `react_to_message`, and use `search_memory`, `store_memory` and \
`update_memory` for what you want to remember."""
SILENCE = """## Doing nothing
You do not have to respond. If there is nothing for you to say or do, call `do_nothing`."""


class Line(Struct, frozen=True):
    """One message as the agent reads it. The agent uses `id` to react or reply to it."""

    id: str
    sender: str
    text: str
    is_reply: bool = False


class Prompt(Struct, frozen=True):
    """A rendered prompt. `persona` is the same for every run of an agent; `rest` is rendered for each run."""

    persona: str
    rest: str

    @property
    def text(self) -> str:
        return f"{self.persona}\n\n{self.rest}" if self.persona else self.rest


class Place(Struct, frozen=True):
    """The conversation in which an agent is addressed. `send_message` takes its id."""

    id: str
    title: str


def build_prompt(persona: str, blocks: Sequence[Block], lines: Sequence[Line], place: Place | None = None) -> Prompt:
    """Render the prompt. Only the last messages of `lines`, oldest first, are included."""
    parts = [render_block(each) for each in blocks]
    parts += [render_messages(lines, place), HOW_TO_SPEAK, SILENCE]
    return Prompt(persona, "\n\n".join(parts))


def render_block(memory: Block) -> str:
    return f"### {memory.label}\n{memory.content}"


def render_messages(lines: Sequence[Line], place: Place | None) -> str:
    head = MESSAGES if place is None else f"{MESSAGES}\nIn {place.title} (conversationId {place.id}):"
    said = [render_line(each) for each in lines[-LAST_MESSAGES:]]
    return "\n".join([head, *said]) if said else f"{head}\n{NO_MESSAGES}"


def render_line(said: Line) -> str:
    """Render one message. Its further lines are indented, so that a text cannot imitate another sender's message."""
    reply = " (reply)" if said.is_reply else ""
    text = "\n  ".join(said.text.splitlines())
    return f"[{said.id}] {said.sender}{reply}: {text}"
