"""Agents and their memory, documents, files and checkpoints."""

from collections.abc import Sequence

from runyard.domain.content.document import Hit
from runyard.domain.content.memory import Passage
from runyard.stores.operations import query, statement, transaction
from runyard.stores.sql_store.full_text import FullText
from runyard.stores.transactions.content import agents, checkpoints, documents, files, memory


class ContentOperations(FullText):
    declare_agents = transaction("other", agents.declare)
    create_agent = transaction("other", agents.create)
    get_agent = query(agents.get)
    find_agent = query(agents.find)
    list_agents = query(agents.list_page)
    change_agent = transaction("other", agents.change)
    session = query(agents.session)
    save_session = transaction("other", agents.save_session)
    blocks = query(memory.blocks)
    put_block = transaction("other", memory.put_block)
    drop_block = transaction("other", memory.drop_block)
    link_block = transaction("other", memory.link_block)
    unlink_block = transaction("other", memory.unlink_block)
    put_passage = transaction("other", memory.put_passage)
    passages = query(memory.passages)
    drop_passage = transaction("other", memory.drop_passage)

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        text = query.strip()
        if not text:
            return []
        words = self._match_any(documents.words_of(text))
        return await self._read(memory.find_passages, agent, owner, words, text, limit)

    # --- documents

    put_documents = transaction("other", documents.put)
    get_documents = query(documents.get)

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        words = documents.words_of(query)
        return await self._read(documents.search, collection, self._match_any(words), limit) if words else []

    # --- files

    begin_upload = statement("other", files.begin_upload)
    write_chunk = transaction("other", files.write_chunk)
    finish_upload = transaction("other", files.finish_upload)
    drop_upload = transaction("other", files.drop_upload)
    get_file = query(files.get)
    read_chunk = query(files.read_chunk)
    sweep_files = transaction("other", files.sweep)
    dropped_contents = query(files.dropped_contents)
    forget_content = statement("other", files.forget_content)

    # --- checkpoints

    runs_without_checkpoint = query(checkpoints.runs_without_checkpoint)
    save_checkpoint = transaction("other", checkpoints.save)
    read_checkpoints = query(checkpoints.read)
