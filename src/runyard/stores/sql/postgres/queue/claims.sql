-- fragment: lane
key, next_pos, runnable, active_run, ready_at, suspect, now_ms() as now

-- name: register_worker
-- Insert a worker process with a lease.
insert into workers (id, label, lease_until, started_at)
select $1, $2, moment + $3::bigint, moment from (select now_ms() as moment) as it;

-- name: renew_lease
-- Extend a lease that has not expired.
update workers set lease_until = now_ms() + $2::bigint where id = $1 and lease_until > now_ms() returning id;

-- name: runs_to_cancel
-- A worker's runs that have a cancel request.
select id from runs where worker_id = $1 and status = 'running' and cancel_requested_at is not null;

-- name: runs_held
-- The runs that a worker has claimed.
select {run} from runs r where r.worker_id = $1 and r.status = 'running';

-- name: delete_workers
-- Delete workers.
delete from workers where id = any($1::uuid[]);

-- name: lock_worker
-- Lock a worker's row. Waits for a claim of that worker whose transaction is open.
select id from workers where id = $1 for update;

-- name: check_lease
-- Whether a worker has a valid lease and no reaper has locked it. No transaction waits for a worker while it holds lanes.
select id from workers where id = $1 and lease_until > now_ms() for key share skip locked;

-- name: lock_ready_lanes
-- Lock the longest waiting lanes with a run to start; skip lanes that another worker has locked. A dead worker gets none,
-- and the lock on the worker's row keeps the reaper away until the claim is committed.
with alive as materialized (
  select id from workers where id = $3 and lease_until > now_ms() for key share
)
select {lane} from lanes
 where suspect = $1 and exists (select 1 from alive)
   and ready_since <= (extract(epoch from statement_timestamp()) * 1000)::bigint  -- stable, so that the index is used
 order by ready_since, key limit $2 for update of lanes skip locked;

-- name: lock_ready_lanes_of
-- As lock_ready_lanes, but only lanes whose first queued run is of one of the named agents ($5), or of none of them (not $5).
with alive as materialized (
  select id from workers where id = $3 and lease_until > now_ms() for key share
)
select {lane} from lanes
 where suspect = $1 and exists (select 1 from alive)
   and ready_since <= (extract(epoch from statement_timestamp()) * 1000)::bigint
   and ((select q.agent from runs q where q.lane_key = lanes.key and q.status = 'queued' and not q.held order by q.pos limit 1)
        = any($4::text[])) = $5::bool
 order by ready_since, key limit $2 for update of lanes skip locked;

-- name: ready_runs
-- The first queued run of the longest waiting lanes that may be claimed from now.
select r.id, r.agent, l.ready_at
  from (select s.suspect, first.key, first.ready_at
          from (values (false), (true)) as s (suspect)
         cross join lateral (select key, ready_at from lanes
                              where suspect = s.suspect
                                and ready_since <= (extract(epoch from statement_timestamp()) * 1000)::bigint
                              order by ready_since, key limit $1) first) l
 cross join lateral (select q.id, q.agent from runs q where q.lane_key = l.key and q.status = 'queued' and not q.held
                      order by q.pos limit 1) r
 order by l.ready_at, l.key limit $1;

-- name: lane_heads
-- The first queued run of each lane that is not held, with the message that caused it.
select {run}, m.id as message_id, m.run_id as message_run, m.role, m.text, m.created_at as said_at,
       m.sender, m.parent_id as reply_to, m.parts, m.edited_at, m.deleted_at
  from unnest($1::text[]) as l (key)
 cross join lateral (select * from runs q where q.lane_key = l.key and q.status = 'queued' and not q.held order by q.pos limit 1) r
  left join messages m on m.id = r.trigger_message_id;

-- name: lock_lanes
-- Lock lanes, in order.
select {lane} from lanes where key = any($1::text[]) order by key for update;

-- name: lock_free_lanes
-- Lock those of these lanes that no other transaction holds, in order.
select {lane} from lanes where key = any($1::text[]) order by key for update skip locked;

-- name: save_lanes
-- Update locked lanes.
update lanes l set runnable = s.runnable, active_run = s.active_run, ready_at = s.ready_at, suspect = s.suspect
  from unnest($1::text::text[], $2::text::int[], $3::text::uuid[], $4::text::bigint[], $5::text::bool[]) as s (key, runnable, active_run, ready_at, suspect)
 where l.key = s.key;

-- name: mark_suspects
-- Set whether the first queued run of each lane is a suspect.
update lanes l set suspect = coalesce((select r.attempts >= $2 from runs r where r.lane_key = l.key and r.status = 'queued' and not r.held
                                        order by r.pos limit 1), false)
 where l.key = any($1::text[]);

-- name: lock_dead_workers
-- Lock workers whose lease has expired; skip those that another reaper has locked.
select id from workers where lease_until <= now_ms() order by lease_until limit $1 for update skip locked;

-- name: end_stuck_sessions
-- Terminate sessions of processes that froze in the middle of a transaction and keep its locks. While Postgres waits for
-- the rest of a statement (parsed, but not executed), none of its own time-outs applies, so another process does it.
with stuck as materialized (  -- find them first, then terminate them
  select pid from pg_stat_activity
   where datname = current_database() and usename = current_user and application_name = 'runyard'
     and state = 'active' and wait_event = 'ClientRead' and state_change < clock_timestamp() - interval '10 s'
)
select pg_terminate_backend(pid) from stuck;

-- name: orphaned_runs
-- The runs of dead workers.
select id, lane_key from runs where worker_id = any($1::uuid[]) and status = 'running';

-- name: stray_runs
-- Running runs whose worker has no row, so that no lease of it can expire.
select id, lane_key, worker_id from runs r
 where status = 'running' and not exists (select 1 from workers w where w.id = r.worker_id) limit $1;

-- name: overdue_runs
-- Runs that did not stop before their cancel deadline.
select id, lane_key from runs where status = 'running' and cancel_deadline <= now_ms() order by cancel_deadline limit $1;

-- name: list_workers
-- All workers with their leases and the number of their runs.
select w.id, w.label, w.lease_until, w.started_at,
       (select count(*) from runs r where r.worker_id = w.id and r.status = 'running') as runs
  from workers w order by w.id;

-- name: detach_run
-- Set the disconnect deadline of a run; not of one that waits for a person.
update runs set detach_deadline = now_ms() + $2::bigint
 where id = $1 and status in ('queued', 'running') and cancel_requested_at is null;

-- name: attach_runs
-- Clear the disconnect deadline of runs that have a follower.
update runs set detach_deadline = null where id = any($1::uuid[]) and detach_deadline is not null;

-- name: detached_runs
-- Runs past their disconnect deadline.
select id, lane_key from runs
 where detach_deadline <= now_ms() and status in ('queued', 'running') and cancel_requested_at is null
 order by detach_deadline limit $1;
