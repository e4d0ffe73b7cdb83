-- name: old_runs
-- Runs from before a time, in the order of their ids.
select id, lane_key, thread_id from runs where id > $1::uuid and id < $2::uuid order by id limit $3;

-- name: droppable_runs
-- Those of these runs that are deleted alone and ended before the horizon: runs without a thread, and runs in a
-- conversation with no run held behind them. `is_last`: its lane is deleted too; a mailbox stays.
select id, lane_key, thread_id is null and superseded_by is null as is_last from runs r
 where id = any($1::uuid[]) and (thread_id is null or face = 'channels') and finished_at < $2::bigint
   and not exists (select 1 from runs h where h.after_run = r.id and h.held and h.status = 'queued') order by id;

-- name: droppable_threads
-- Those of these threads that are chats without forks whose runs all ended before the horizon.
select t.id from threads t where t.id = any($1::uuid[]) and t.kind = 'chat'
   and not exists (select 1 from runs r where r.thread_id = t.id and (r.finished_at is null or r.finished_at >= $2::bigint))
   and not exists (select 1 from threads f where f.forked_from = t.id);

-- name: runs_of_threads
-- All runs of these threads.
select id from runs where thread_id = any($1::uuid[]);

-- name: keep_tombstones
-- Insert the tombstones of runs.
insert into dropped_runs (id, owner, external_id, agent, status, stop_reason, error_code, last_seq, created_at, finished_at,
                          dropped_at, has_log)
select id, owner, external_id, agent, status, stop_reason, error_code, last_seq, created_at, finished_at, now_ms(), true
  from runs where id = any($1::uuid[]);

-- name: drop_events
-- Delete the logs of runs. On Postgres they are dropped later, as whole partitions.
select 1 where $1::uuid[] is null;

-- name: drop_waits
-- Delete the waits of runs.
delete from waits where run_id = any($1::uuid[]);

-- name: drop_outbox
-- Delete the cursors of runs.
delete from run_outbox where run_id = any($1::uuid[]);

-- name: drop_checkpoints
-- Delete the checkpoints of runs.
delete from checkpoints where run_id = any($1::uuid[]);

-- name: drop_runs
-- Delete runs.
delete from runs where id = any($1::uuid[]);

-- name: drop_messages
-- Delete the messages of threads.
delete from messages where thread_id = any($1::uuid[]);

-- name: drop_threads
-- Delete threads.
delete from threads where id = any($1::uuid[]);

-- name: drop_lanes
-- Delete lanes.
delete from lanes where key = any($1::text[]);

-- name: drop_logs
-- Drop partitions of the log without runs to keep, and delete rows in the others.
select drop_event_partitions($1::bigint) as dropped;

-- name: forget_tombstones
-- Delete tombstones from before a time.
delete from dropped_runs where dropped_at < $1::bigint and not has_log;

-- name: get_tombstone
-- The tombstone of a run of an owner, by its id or its external id.
select id, agent, status, stop_reason, error_code, last_seq, created_at, finished_at, dropped_at from dropped_runs
 where owner = $1 and ($2 in (id::text, external_id)) order by id desc limit 1;

-- name: old_messages
-- Messages from before a time, in the order of their ids.
select id from messages where id > $1::uuid and id < $2::uuid order by id limit $3;

-- name: drop_old_messages
-- Delete those of these messages that are in conversations, have no later reply, and belong to no unfinished run.
delete from messages m using threads t
 where m.id = any($1::uuid[]) and t.id = m.thread_id and t.kind <> 'chat'
   and not exists (select 1 from messages r where r.parent_id = m.id and r.id >= $2::uuid)
   and not exists (select 1 from runs r where r.thread_id = m.thread_id and r.id < $2::uuid and r.finished_at is null
                      and r.trigger_message_id = m.id)
returning m.id;

-- name: drop_reactions
-- Delete the reactions to messages.
delete from reactions where message_id = any($1::uuid[]);

-- name: oldest_feed
-- The first numbered entries of the feed.
select no, created_at from feed where no is not null order by no limit $1;

-- name: drop_feed
-- Delete feed entries up to a number.
delete from feed where no <= $1;

-- name: move_feed_start
-- Set the number of the last deleted feed entry.
update feed_head set dropped = $1;

-- name: insert_removed_threads
-- Record that threads are deleted, so that processes remove their files.
insert into removals (id, owner, chat, removed_at)
select id, owner, coalesce(external_id, id::text), now_ms() from threads where id = any($1::uuid[]);

-- name: insert_removed_runs
-- Record that runs without a thread are deleted, so that processes remove their files.
insert into removals (id, owner, chat, removed_at)
select id, owner, null, now_ms() from runs where thread_id is null and id = any($1::uuid[]);

-- name: read_removals
-- Removals from a time on, after a position among those of that time.
select id, owner, chat, removed_at from removals
 where removed_at > $1::bigint or (removed_at = $1::bigint and id > $2::uuid) order by removed_at, id limit $3;

-- name: forget_removals
-- Delete records of removals from before a time.
delete from removals where removed_at < $1;
