"""The content of a new message: its parts redacted, and completed with the facts about its files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from runyard.base.ids import is_id, new_id
from runyard.domain.content.parts import DataPart, File, Image, Part, TextPart, encoded, file_of, text_of
from runyard.domain.conversations.thread import Message
from runyard.domain.events import clean, cleaned
from runyard.errors import Invalid, NotFound
from runyard.store import FileStore

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

MOST_PARTS = 100


class FileReference(NamedTuple):
    """A file that a client names in a message. `is_image`: the client calls it an image."""

    file_id: str
    is_image: bool = False


NewPart = TextPart | DataPart | FileReference


class StoredContent(NamedTuple):
    """The text of a message, the JSON of its parts (None for plain text), and the ids of its files."""

    text: str
    parts: str | None = None
    files: Sequence[str] = ()

    def message(self, thread_id: str, run_id: str, now: int) -> Message:
        """Return the message of a user with this content."""
        return Message(
            id=new_id(),
            thread_id=thread_id,
            run_id=run_id,
            role="user",
            text=self.text,
            created_at=now,
            parts=self.parts,
        )


async def stored_content(
    store: FileStore, redactor: "Redactor", owner: str, text: str, parts: Sequence[NewPart]
) -> StoredContent:
    """Return the content of a message as it is stored. NotFound if the owner has no such file."""
    if not parts:
        return StoredContent(redactor.text(clean(text)))
    if len(parts) > MOST_PARTS:
        raise Invalid(f"A message has at most {MOST_PARTS} parts. Send several messages.")
    made = [await _stored(store, redactor, owner, part) for part in parts]
    files = [part.id for part in made if isinstance(part, File)]
    return StoredContent(text_of(made), encoded(made), files)


async def _stored(store: FileStore, redactor: "Redactor", owner: str, part: NewPart) -> Part:
    match part:
        case TextPart(text):
            return TextPart(redactor.text(clean(text)))
        case DataPart(data):
            return DataPart(redactor.value(cleaned(data)))
        case FileReference(file_id, is_image):
            if not is_id(file_id):
                raise NotFound("There is no file with that id.")
            file = await store.get_file(owner, file_id)
            found = file_of(file.id, file.name, file.type, file.size)
            if is_image and not isinstance(found, Image):
                raise Invalid(f"A part of the type `image` names a file of the type {file.type}. Send it as a `file`.")
            return found
