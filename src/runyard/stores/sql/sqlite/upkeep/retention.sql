-- name: old_runs
-- Runs from before a time, in the order of their ids.
select id, lane_key, thread_id from runs where id > ?1 and id < ?2 order by id limit ?3;

-- name: droppable_runs
-- Those of these runs that are deleted alone and ended before the horizon: runs without a thread, and runs in a
-- conversation with no run held behind them. `is_last`: its lane is deleted too; a mailbox stays.
select id, lane_key, thread_id is null and superseded_by is null as is_last from runs r
 where id in (select value from json_each(?1)) and (thread_id is null or face = 'channels') and finished_at < ?2
   and not exists (select 1 from runs h where h.after_run = r.id and h.held and h.status = 'queued') order by id;

-- name: droppable_threads
-- Those of these threads that are chats without forks whose runs all ended before the horizon.
select t.id from threads t where t.id in (select value from json_each(?1)) and t.kind = 'chat'
   and not exists (select 1 from runs r where r.thread_id = t.id and (r.finished_at is null or r.finished_at >= ?2))
   and not exists (select 1 from threads f where f.forked_from = t.id);

-- name: runs_of_threads
-- All runs of these threads.
select id from runs where thread_id in (select value from json_each(?1));

-- name: keep_tombstones
-- Insert the tombstones of runs.
insert into dropped_runs (id, owner, external_id, agent, status, stop_reason, error_code, last_seq, created_at, finished_at,
                          dropped_at, has_log)
select id, owner, external_id, agent, status, stop_reason, error_code, last_seq, created_at, finished_at, now_ms(), 0
  from runs where id in (select value from json_each(?1));

-- name: drop_events
-- Delete the logs of runs.
delete from run_events where run_id in (select value from json_each(?1));

-- name: drop_waits
-- Delete the waits of runs.
delete from waits where run_id in (select value from json_each(?1));

-- name: drop_outbox
-- Delete the cursors of runs.
delete from run_outbox where run_id in (select value from json_each(?1));

-- name: drop_checkpoints
-- Delete the checkpoints of runs.
delete from checkpoints where run_id in (select value from json_each(?1));

-- name: drop_runs
-- Delete runs.
delete from runs where id in (select value from json_each(?1));

-- name: drop_messages
-- Delete the messages of threads.
delete from messages where thread_id in (select value from json_each(?1));

-- name: drop_threads
-- Delete threads.
delete from threads where id in (select value from json_each(?1));

-- name: drop_lanes
-- Delete lanes.
delete from lanes where key in (select value from json_each(?1));

-- name: drop_logs
-- Return no rows: SQLite has no partitions, and logs are deleted with their runs.
select 0 as dropped where ?1 is not null;

-- name: forget_tombstones
-- Delete tombstones from before a time.
delete from dropped_runs where dropped_at < ?1 and not has_log;

-- name: get_tombstone
-- The tombstone of a run of an owner, by its id or its external id.
select id, agent, status, stop_reason, error_code, last_seq, created_at, finished_at, dropped_at from dropped_runs
 where owner = ?1 and (?2 in (id, external_id)) order by id desc limit 1;

-- name: old_messages
-- Messages from before a time, in the order of their ids.
select id from messages where id > ?1 and id < ?2 order by id limit ?3;

-- name: drop_old_messages
-- Delete those of these messages that are in conversations, have no later reply, and belong to no unfinished run.
delete from messages
 where id in (select value from json_each(?1))
   and exists (select 1 from threads t where t.id = messages.thread_id and t.kind <> 'chat')
   and not exists (select 1 from messages r where r.parent_id = messages.id and r.id >= ?2)
   and not exists (select 1 from runs r where r.thread_id = messages.thread_id and r.id < ?2 and r.finished_at is null
                      and r.trigger_message_id = messages.id)
returning id;

-- name: drop_reactions
-- Delete the reactions to messages.
delete from reactions where message_id in (select value from json_each(?1));

-- name: oldest_feed
-- The first numbered entries of the feed.
select no, created_at from feed where no is not null order by no limit ?1;

-- name: drop_feed
-- Delete feed entries up to a number.
delete from feed where no <= ?1;

-- name: move_feed_start
-- Set the number of the last deleted feed entry.
update feed_head set dropped = ?1;

-- name: insert_removed_threads
-- Record that threads are deleted, so that processes remove their files.
insert into removals (id, owner, chat, removed_at)
select id, owner, coalesce(external_id, id), now_ms() from threads where id in (select value from json_each(?1));

-- name: insert_removed_runs
-- Record that runs without a thread are deleted, so that processes remove their files.
insert into removals (id, owner, chat, removed_at)
select id, owner, null, now_ms() from runs where thread_id is null and id in (select value from json_each(?1));

-- name: read_removals
-- Removals from a time on, after a position among those of that time.
select id, owner, chat, removed_at from removals
 where removed_at > ?1 or (removed_at = ?1 and id > ?2) order by removed_at, id limit ?3;

-- name: forget_removals
-- Delete records of removals from before a time.
delete from removals where removed_at < ?1;
