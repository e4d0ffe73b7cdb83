"""Named SQL statements. Each is in `sql/<dialect>/<subject>/` under a `-- name:` line and a sentence about its purpose.

Both dialects have exactly the names of `Queries`. `-- fragment:` blocks are column lists; `{fragment}` includes them.
"""

import re
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from runyard.errors import StartupError

Dialect = Literal["sqlite", "postgres"]
FOLDER = Path(__file__).parent / "sql"
SCHEMA, HOT_PATH = "schema.sql", ("log/append.sql", "queue/accept.sql")
_BLOCK = re.compile(r"^-- (name|fragment): (\w+)\n(.*?)(?=^-- (?:name|fragment):|\Z)", re.M | re.S)


class Queries(Struct, frozen=True, kw_only=True):
    """The statements of one dialect."""

    abandon_upload: str
    active_agents: str
    add_members: str
    adopt_children: str
    ancestors: str
    answer_wait: str
    attach_runs: str
    begin_upload: str
    branches: str
    caused_message: str
    caused_passage: str
    change_agent: str
    change_channel: str
    change_message: str
    change_thread: str
    check_lease: str
    claim_pushes: str
    clock: str
    close_steps: str
    complete_content: str
    count_answered: str
    count_call: str
    count_forks: str
    count_live_runs: str
    count_queued: str
    declare_agents: str
    delete_child_lanes: str
    delete_documents: str
    delete_lane: str
    delete_message: str
    delete_reactions: str
    delete_thread: str
    delete_thread_checkpoints: str
    delete_thread_events: str
    delete_thread_feed: str
    delete_thread_members: str
    delete_thread_messages: str
    delete_thread_outbox: str
    delete_thread_reactions: str
    delete_thread_runs: str
    delete_thread_sessions: str
    delete_thread_steered: str
    delete_thread_waits: str
    delete_workers: str
    detach_run: str
    detached_runs: str
    drop_block: str
    drop_calls: str
    drop_checkpoints: str
    drop_events: str
    drop_expired_shares: str
    drop_feed: str
    drop_feedback: str
    drop_lanes: str
    drop_logs: str
    drop_messages: str
    drop_old_messages: str
    drop_outbox: str
    drop_passage: str
    drop_push: str
    drop_reactions: str
    drop_runs: str
    drop_sealed_snapshots: str
    drop_share: str
    drop_steered: str
    drop_threads: str
    drop_unused_files: str
    drop_upload: str
    drop_waits: str
    droppable_runs: str
    droppable_threads: str
    dropped_contents: str
    due_pushes: str
    due_runs: str
    end_stuck_sessions: str
    ended_children: str
    expired_waits: str
    feed_start: str
    find_agent: str
    find_message: str
    find_passages: str
    find_share: str
    find_steered: str
    first_messages: str
    first_tokens: str
    forget_calls: str
    forget_content: str
    forget_encryption_keys: str
    forget_events: str
    forget_keys: str
    forget_removals: str
    forget_tombstones: str
    fork_thread: str
    get_agent: str
    get_api_key: str
    get_call: str
    get_documents: str
    get_file: str
    get_key: str
    get_messages: str
    get_named_conversation: str
    get_named_run: str
    get_named_thread: str
    get_run: str
    get_runs: str
    get_session: str
    get_snapshot: str
    get_thread: str
    get_tombstone: str
    get_wait: str
    has_content: str
    heads: str
    history: str
    holding_runs: str
    index_messages: str
    index_passages: str
    init_outbox: str
    insert_agent: str
    insert_api_key: str
    insert_call: str
    insert_channel_message: str
    insert_conversation: str
    insert_documents: str
    insert_encryption_key: str
    insert_feed: str
    insert_file: str
    insert_keys: str
    insert_ledger_messages: str
    insert_message_uses: str
    insert_messages: str
    insert_reaction: str
    insert_removed_runs: str
    insert_removed_threads: str
    insert_run_use: str
    insert_runs: str
    insert_share: str
    insert_steered: str
    insert_thread: str
    insert_waits: str
    keep_event: str
    keep_tombstones: str
    keys_in_use: str
    known_content: str
    lane_heads: str
    leave_messages: str
    link_block: str
    list_active_threads: str
    list_agents: str
    list_api_keys: str
    list_conversations: str
    list_ended_runs: str
    list_mailbox_runs: str
    list_members: str
    list_messages: str
    list_passages: str
    list_pushes: str
    list_reactions: str
    list_runs: str
    list_runs_by_error: str
    list_runs_by_status: str
    list_shares: str
    list_threads: str
    list_unread: str
    list_waits: str
    list_workers: str
    lock_conversation: str
    lock_dead_workers: str
    lock_feed: str
    lock_free_lanes: str
    lock_lanes: str
    lock_rate: str
    lock_ready_lanes: str
    lock_ready_lanes_of: str
    lock_runs: str
    lock_thread: str
    lock_worker: str
    maintain: str
    mark_read: str
    mark_saved: str
    mark_suspects: str
    matched_events: str
    move_feed_head: str
    move_feed_start: str
    move_heads: str
    move_messages: str
    named_runs: str
    named_threads: str
    new_messages: str
    next_due: str
    next_expiry: str
    number_feed: str
    old_messages: str
    old_runs: str
    oldest_feed: str
    open_lanes: str
    open_threads: str
    orphaned_children: str
    orphaned_runs: str
    overdue_runs: str
    overview: str
    put_block: str
    put_checkpoint: str
    put_chunk: str
    put_feedback: str
    put_passage: str
    put_push: str
    put_snapshot: str
    queue_state: str
    read_blocks: str
    read_checkpoints: str
    read_chunk: str
    read_conversation: str
    read_events: str
    read_feed: str
    read_feedback: str
    read_ledger_messages: str
    read_logs: str
    read_removals: str
    read_steps: str
    read_threads: str
    read_titles: str
    ready_runs: str
    recent_messages: str
    recover_held_runs: str
    register_worker: str
    release_held_runs: str
    release_next_run: str
    remove_member: str
    remove_reaction: str
    renew_lease: str
    reopen_outbox: str
    reply_participants: str
    revoke_api_key: str
    run_groups: str
    runs_held: str
    runs_of_threads: str
    runs_to_cancel: str
    save_lanes: str
    save_runs: str
    save_session: str
    save_steps: str
    seals_of_blocks: str
    seals_of_checkpoints: str
    seals_of_chunks: str
    seals_of_events: str
    seals_of_feedback: str
    seals_of_files: str
    seals_of_kept_events: str
    seals_of_ledger: str
    seals_of_messages: str
    seals_of_passages: str
    seals_of_pushes: str
    seals_of_runs: str
    seals_of_steered: str
    seals_of_titles: str
    seals_of_waits: str
    search_documents: str
    search_messages: str
    set_title: str
    settle_push: str
    stale_uploads: str
    stray_runs: str
    supersede_runs: str
    swap_blocks: str
    swap_checkpoints: str
    swap_chunks: str
    swap_events: str
    swap_feedback: str
    swap_files: str
    swap_kept_events: str
    swap_ledger: str
    swap_messages: str
    swap_passages: str
    swap_pushes: str
    swap_runs: str
    swap_steered: str
    swap_titles: str
    swap_waits: str
    take_event: str
    take_messages: str
    touch_api_keys: str
    touch_upload: str
    unlink_block: str
    unnumbered_feed: str
    unpublished: str
    unsaved_runs: str
    untaken_messages: str
    usage_by_day: str
    use_files: str
    void_waits: str
    write_events: str


def parse(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the statements and the fragments of a file by name."""
    found: dict[str, dict[str, str]] = {"name": {}, "fragment": {}}
    for kind, name, body in _BLOCK.findall(text):
        if name in found[kind]:
            raise StartupError(f"The SQL {kind} {name} is defined twice.")
        found[kind][name] = "\n".join(line for line in body.strip().splitlines() if not line.startswith("--"))
    return found["name"], found["fragment"]


def statement_files(dialect: Dialect) -> list[Path]:
    """Return the files of all statements, without the schema and the hot path."""
    folder = FOLDER / dialect
    return sorted(set(folder.rglob("*.sql")) - {folder / name for name in (SCHEMA, *HOT_PATH)})


@cache
def load(dialect: Dialect) -> Queries:
    statements, fragments = parse("\n".join(path.read_text() for path in statement_files(dialect)))
    wanted = set(Queries.__struct_fields__)
    if statements.keys() != wanted:
        odd = ", ".join(sorted(statements.keys() ^ wanted))
        raise StartupError(f"The {dialect} statements do not match the list of names: {odd}.")
    for name, sql in statements.items():
        for fragment, columns in fragments.items():
            sql = sql.replace("{" + fragment + "}", columns)
        statements[name] = sql
    return Queries(**statements)


@cache
def hot_path(dialect: Dialect) -> dict[str, str]:
    """Return the statements of the hot path by name."""
    return parse("\n".join(path.read_text() for name in HOT_PATH if (path := FOLDER / dialect / name).exists()))[0]
