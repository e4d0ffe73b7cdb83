-- name: old_runs
-- Runs that were made before a time, in order of their ids.
select id, lane_key, thread_id from runs where id > ?1 and id < ?2 order by id limit ?3;

-- name: droppable_runs
-- Those of these runs that belong to no thread and ended before the horizon; whether they were the last of their queue.
select id, lane_key, superseded_by is null as is_last from runs
 where id in (select value from json_each(?1)) and thread_id is null and finished_at < ?2 order by id;

-- name: droppable_threads
-- Those of these threads whose runs all ended before the horizon, and from which none was forked.
select t.id from threads t where t.id in (select value from json_each(?1))
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
