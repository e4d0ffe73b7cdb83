-- name: insert_keys
-- Insert idempotency keys, in key order so that two groups cannot deadlock; return the new ones.
insert into idempotency_keys (scope, key, digest, result, created_at)
select k.scope, k.key, k.digest, k.result, now_ms()
  from unnest($1::text::text[], $2::text::text[], $3::text::text[], $4::text::uuid[]) as k (scope, key, digest, result)
 order by k.scope, k.key
    on conflict do nothing
returning scope, key;

-- name: get_key
-- The result of the request with this idempotency key.
select digest, result from idempotency_keys where scope = $1 and key = $2;

-- name: forget_keys
-- Delete keys that are older than the given age.
delete from idempotency_keys where created_at < now_ms() - $1::bigint;

-- name: named_runs
-- Runs by their external ids.
select r.id, r.owner, r.external_id from runs r
  join unnest($1::text[], $2::text[]) as n (owner, external_id) on r.owner = n.owner and r.external_id = n.external_id;

-- name: open_lanes
-- Add runs to lanes, some of them held; lock the lanes in order and return the next free position of each.
insert into lanes as l (key, next_pos, runnable, ready_at)
select k.key, k.n + 1, k.runnable, now_ms()
  from unnest($1::text::text[], $2::text::int[], $3::text::int[]) as k (key, n, runnable) order by k.key
    on conflict (key) do update set
       next_pos = l.next_pos + excluded.next_pos - 1,
       runnable = l.runnable + excluded.runnable,
       ready_at = case when l.runnable = 0 and l.active_run is null then excluded.ready_at else l.ready_at end
returning {lane};

-- name: read_threads
-- Threads, read under their lanes' locks.
select {thread} from threads where id = any($1::uuid[]) and kind = 'chat';

-- name: open_threads
-- Insert the threads that an owner does not have, in order so that two groups cannot deadlock.
insert into threads (id, owner, kind, external_id, user_id, agent, created_at, metadata)
select * from unnest($1::text::uuid[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[], $6::text::text[],
                     $7::text::bigint[], $8::text::text[])
       as t (id, owner, kind, external_id, user_id, agent, created_at, metadata)
 order by t.owner, t.external_id
    on conflict (owner, external_id) where external_id is not null do nothing;

-- name: named_threads
-- Threads by their external ids.
select t.id, t.owner, t.external_id from threads t
  join unnest($1::text[], $2::text[]) as n (owner, external_id) on t.owner = n.owner and t.external_id = n.external_id;

-- name: insert_runs
-- Insert accepted runs; some are claimed in the same transaction.
insert into runs (id, owner, face, lane_key, pos, agent, thread_id, trigger_message_id, parent_id, retry_of, created_at,
                  agent_version, status, fence, attempts, worker_id, started_at, external_id, held, after_run, pause_ms, depth,
                  parent_run_id, has_client_tools, last_seq)
select r.*, 1
  from unnest($1::text::uuid[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::bigint[],
              $6::text::text[], $7::text::uuid[], $8::text::uuid[], $9::text::uuid[], $10::text::uuid[],
              $11::text::bigint[], $12::text::text[], $13::text::text[], $14::text::bigint[],
              $15::text::int[], $16::text::uuid[], $17::text::bigint[], $18::text::text[], $19::text::bool[],
              $20::text::uuid[], $21::text::int[], $22::text::int[], $23::text::uuid[], $24::text::bool[]) as r;

-- name: insert_messages
-- Insert messages.
insert into messages (id, thread_id, run_id, role, text, sources, created_at, parts)
select * from unnest($1::text::uuid[], $2::text::uuid[], $3::text::uuid[], $4::text::text[], $5::text::text[], $6::text::text[], $7::text::bigint[],
                     $8::text::text[]);

-- name: move_heads
-- Make runs the heads of their threads.
update threads t set head_run_id = h.run_id
  from unnest($1::text::uuid[], $2::text::uuid[]) as h (thread_id, run_id) where t.id = h.thread_id;

-- name: supersede_runs
-- Record which run replaces these; their checkpoints must be written again.
update runs set superseded_by = $2, checkpoint_at = null where id = any($1::uuid[]);

-- name: branches
-- The runs of a thread with their parents.
select id, parent_id, status, superseded_by from runs where thread_id = $1;

-- name: count_queued
-- How many runs of an owner wait; the count stops at the limit.
select count(*) as n from (select 1 from runs where owner = $1 and status = 'queued' limit $2::int) q;
