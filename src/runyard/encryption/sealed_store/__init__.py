"""A store that seals content (`encryption/seals.py`) before the store below stores it, and opens it for callers.

It changes only content: event data, messages, inputs of waits, delivered events, errors of runs, feedback, checkpoints,
the ledger, files, and the memory of agents. Names of channels, topics, personas, labels and reactions stay plain.
Without a key a process has no sealed store, and encryption costs nothing.

`UNSEALED` lists the operations without content. An operation is there or is defined in a part: a test checks that.
"""

from runyard.encryption.cipher import KeyRing
from runyard.encryption.sealed_store.content import SealedContent
from runyard.encryption.sealed_store.conversations import SealedConversations
from runyard.encryption.sealed_store.log import SealedLog
from runyard.encryption.sealed_store.queue import SealedQueue
from runyard.encryption.sealed_store.runs import SealedRuns
from runyard.encryption.seals import Seals
from runyard.store import Store

UNSEALED = (
    *("open", "close", "ping", "check_disk", "maintain", "overview", "end_stuck_sessions"),
    *(
        "create_thread",
        "change_thread",
        "get_thread",
        "get_named_thread",
        "list_threads",
        "list_active_threads",
        "delete_thread",
    ),
    *("create_share", "list_shares", "find_share", "drop_share"),
    *("count_queued", "forget_keys", "take_call", "forget_calls", "forget_events"),
    *("register", "retire", "list_workers", "ready_runs", "runs_to_cancel", "detach", "attach"),
    *("find_ids", "heads", "unpublished", "publish", "drop_push", "drop_feedback"),
    *("sweep", "sweep_messages", "drop_feed", "drop_logs", "get_tombstone", "removals", "forget_removals"),
    *("create_api_key", "get_api_key", "list_api_keys", "revoke_api_key", "touch_api_keys"),
    *("put_documents", "get_documents", "search"),  # documents are part of an app's source
    *("open_channel", "open_dm", "get_conversation", "list_conversations"),
    *("change_channel", "add_member", "remove_member", "react", "remove_reaction", "reactions", "mark_read", "unread"),
    *("release_held_runs", "recover_held_runs", "number_feed", "feed_start"),
    *("declare_agents", "create_agent", "get_agent", "find_agent", "list_agents", "change_agent"),
    *("session", "save_session", "drop_block", "link_block", "unlink_block", "drop_passage"),
    *("usage_by_day", "run_groups", "first_tokens", "queue_state", "holding_runs"),
    *("begin_upload", "drop_upload", "sweep_files", "dropped_contents", "forget_content"),
)


def seal_store(store: Store, ring: KeyRing) -> Store:
    """Return a store that seals content with the ring's first key before `store` stores it."""
    return SealedStore(store, ring)  # type: ignore[abstract]  # the constructor sets the operations of UNSEALED


class SealedStore(SealedQueue, SealedRuns, SealedLog, SealedConversations, SealedContent, Store):
    def __init__(self, store: Store, ring: KeyRing) -> None:
        self._store = store
        self._seals = Seals(ring)
        for name in UNSEALED:
            setattr(self, name, getattr(store, name))
