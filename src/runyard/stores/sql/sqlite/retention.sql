-- name: old_runs
-- Runs that were made before a time, in order of their ids.
select id, lane_key, thread_id from runs where id > ?1 and id < ?2 order by id limit ?3;

-- name: droppable_runs
-- Those of these runs that go alone, having ended before the horizon: they belong to no thread, or were set off in a
-- conversation and nobody is held behind them. Whether they were the last of their queue; a mailbox stays.
select id, lane_key, thread_id is null and superseded_by is null as is_last from runs r
 where id in (select value from json_each(?1)) and (thread_id is null or face = 'channels') and finished_at < ?2
   and not exists (select 1 from runs h where h.after_run = r.id and h.held and h.status = 'queued') order by id;

-- name: droppable_threads
-- Those of these threads that are chats whose runs all ended before the horizon, and from which none was forked.
select t.id from threads t where t.id in (select value from json_each(?1)) and t.kind = 'chat'
   and not exists (select 1 from runs r where r.thread_id = t.id and (r.finished_at is null or r.finished_at >= ?2))
   and not exists (select 1 from threads f where f.forked_from = t.id);

-- name: runs_of_threads
-- All runs of these threads.
select id from runs where thread_id in (select value from json_each(?1));

-- name: keep_tombstones
-- What is kept of these runs.
insert into dropped_runs (id, owner, external_id, agent, status, stop_reason, error_code, last_seq, created_at, finished_at,
                          dropped_at, has_log)
select id, owner, external_id, agent, status, stop_reason, error_code, last_seq, created_at, finished_at, now_ms(), 0
  from runs where id in (select value from json_each(?1));

-- name: drop_events
-- The logs of these runs.
delete from run_events where run_id in (select value from json_each(?1));

-- name: drop_approvals
-- The approvals of these runs.
delete from approvals where run_id in (select value from json_each(?1));

-- name: drop_outbox
-- The cursors of these runs.
delete from run_outbox where run_id in (select value from json_each(?1));

-- name: drop_checkpoints
-- The checkpoints of these runs.
delete from checkpoints where run_id in (select value from json_each(?1));

-- name: drop_runs
-- These runs.
delete from runs where id in (select value from json_each(?1));

-- name: drop_messages
-- What was said in these threads.
delete from messages where thread_id in (select value from json_each(?1));

-- name: drop_threads
-- These threads.
delete from threads where id in (select value from json_each(?1));

-- name: drop_lanes
-- These queues.
delete from lanes where key in (select value from json_each(?1));

-- name: drop_logs
-- There are no parts: rows went with their runs.
select 0 as dropped where ?1 is not null;

-- name: forget_tombstones
-- Of what was dropped so long ago nothing is kept.
delete from dropped_runs where dropped_at < ?1 and not has_log;

-- name: get_tombstone
-- What is kept of a run of an owner, by its id or its name.
select id, agent, status, stop_reason, error_code, last_seq, created_at, finished_at, dropped_at from dropped_runs
 where owner = ?1 and (?2 in (id, external_id)) order by id desc limit 1;

-- name: old_messages
-- What was said before a time, in order of its ids.
select id from messages where id > ?1 and id < ?2 order by id limit ?3;

-- name: drop_old_messages
-- Of these words those that were said in conversations, with no later reply and no run that has yet to end.
delete from messages
 where id in (select value from json_each(?1))
   and exists (select 1 from threads t where t.id = messages.thread_id and t.kind <> 'chat')
   and not exists (select 1 from messages r where r.parent_id = messages.id and r.id >= ?2)
   and not exists (select 1 from runs r where r.thread_id = messages.thread_id and r.id < ?2 and r.finished_at is null
                      and r.trigger_message_id = messages.id)
returning id;

-- name: drop_reactions
-- The reactions to these words.
delete from reactions where message_id in (select value from json_each(?1));

-- name: oldest_feed
-- The first entries of the feed that have a number.
select no, created_at from feed where no is not null order by no limit ?1;

-- name: drop_feed
-- The feed up to a number.
delete from feed where no <= ?1;

-- name: move_feed_start
-- The number that the feed begins after from now on.
update feed_head set dropped = ?1;

-- name: insert_removed_threads
-- These threads are deleted; their files go next.
insert into removals (id, owner, chat, removed_at)
select id, owner, coalesce(external_id, id), now_ms() from threads where id in (select value from json_each(?1));

-- name: insert_removed_runs
-- Those of these runs that belong to no thread are deleted; their files go next.
insert into removals (id, owner, chat, removed_at)
select id, owner, null, now_ms() from runs where thread_id is null and id in (select value from json_each(?1));

-- name: read_removals
-- What was deleted from a time on, after a position among what was deleted at that time.
select id, owner, chat, removed_at from removals
 where removed_at > ?1 or (removed_at = ?1 and id > ?2) order by removed_at, id limit ?3;

-- name: forget_removals
-- What was deleted before a time is no longer told.
delete from removals where removed_at < ?1;
