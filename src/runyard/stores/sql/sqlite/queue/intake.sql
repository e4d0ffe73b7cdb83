-- name: insert_keys
-- Insert idempotency keys; return the new ones.
insert into idempotency_keys (scope, key, digest, result, created_at) values (?1, ?2, ?3, ?4, now_ms())
    on conflict do nothing
returning scope, key;

-- name: get_key
-- The result of the request with this idempotency key.
select digest, result from idempotency_keys where scope = ?1 and key = ?2;

-- name: forget_keys
-- Delete keys that are older than the given age.
delete from idempotency_keys where created_at < now_ms() - ?1;

-- name: named_runs
-- Runs by their external ids.
-- The cross join makes SQLite look up each name. Otherwise it reads all runs of an owner.
select r.id, r.owner, r.external_id
  from json_each(?1) o cross join runs r on r.owner = o.value and r.external_id = ?2 ->> o.key;

-- name: open_lanes
-- Add runs to lanes, some of them held, and return the next free position of each.
insert into lanes (key, next_pos, runnable, ready_at) values (?1, ?2 + 1, ?3, now_ms())
    on conflict (key) do update set
       next_pos = next_pos + excluded.next_pos - 1,
       runnable = runnable + excluded.runnable,
       ready_at = case when runnable = 0 and active_run is null then excluded.ready_at else ready_at end
returning {lane};

-- name: read_threads
-- Threads, read in the transaction that writes to them.
select {thread} from threads where id in (select value from json_each(?1)) and kind = 'chat';

-- name: open_threads
-- Insert the threads that an owner does not have.
insert into threads (id, owner, kind, external_id, user_id, agent, created_at, metadata)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    on conflict (owner, external_id) where external_id is not null do nothing;

-- name: named_threads
-- Threads by their external ids.
-- The cross join makes SQLite look up each name. Otherwise it reads all threads of an owner.
select t.id, t.owner, t.external_id
  from json_each(?1) o cross join threads t on t.owner = o.value and t.external_id = ?2 ->> o.key;

-- name: insert_runs
-- Insert accepted runs; some are claimed in the same transaction.
insert into runs (id, owner, face, lane_key, pos, agent, thread_id, trigger_message_id, parent_id, retry_of, created_at,
                  agent_version, status, fence, attempts, worker_id, started_at, external_id, held, after_run, pause_ms, depth,
                  parent_run_id, has_client_tools, last_seq)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
        ?22, ?23, ?24, 1);

-- name: insert_messages
-- Insert messages.
insert into messages (id, thread_id, run_id, role, text, sources, created_at, parts) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: move_heads
-- Make runs the heads of their threads.
update threads set head_run_id = ?2 where id = ?1;

-- name: supersede_runs
-- Record which run replaces these; their checkpoints must be written again.
update runs set superseded_by = ?2, checkpoint_at = null where id in (select value from json_each(?1));

-- name: branches
-- The runs of a thread with their parents.
select id, parent_id, status, superseded_by from runs where thread_id = ?1;

-- name: count_queued
-- How many runs of an owner wait; the count stops at the limit.
select count(*) as n from (select 1 from runs where owner = ?1 and status = 'queued' limit ?2) q;
