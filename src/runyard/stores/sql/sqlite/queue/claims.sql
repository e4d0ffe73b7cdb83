-- fragment: lane
key, next_pos, runnable, active_run, ready_at, suspect, now_ms() as now

-- name: register_worker
-- Insert a worker process with a lease.
insert into workers (id, label, lease_until, started_at) values (?1, ?2, now_ms() + ?3, now_ms());

-- name: renew_lease
-- Extend a lease that has not expired.
update workers set lease_until = now_ms() + ?2 where id = ?1 and lease_until > now_ms() returning id;

-- name: runs_to_cancel
-- A worker's runs that have a cancel request.
select id from runs where worker_id = ?1 and status = 'running' and cancel_requested_at is not null;

-- name: runs_held
-- The runs that a worker has claimed.
select {run} from runs r where r.worker_id = ?1 and r.status = 'running';

-- name: delete_workers
-- Delete workers.
delete from workers where id in (select value from json_each(?1));

-- name: lock_worker
-- A worker's row. SQLite has one writer, so no claim is open.
select id from workers where id = ?1;

-- name: check_lease
-- Whether a worker has a valid lease.
select id from workers where id = ?1 and lease_until > now_ms();

-- name: lock_ready_lanes
-- The longest waiting lanes with a run to start; none for a dead worker.
select {lane} from lanes
 where active_run is null and runnable > 0 and suspect = ?1 and ready_at <= now_ms()
   and exists (select 1 from workers where id = ?3 and lease_until > now_ms())
 order by ready_at, key limit ?2;

-- name: lock_ready_lanes_of
-- As lock_ready_lanes, but only lanes whose first queued run is of one of the named agents (?5), or of none of them (not ?5).
select {lane} from lanes
 where active_run is null and runnable > 0 and suspect = ?1 and ready_at <= now_ms()
   and exists (select 1 from workers where id = ?3 and lease_until > now_ms())
   and ((select q.agent from runs q where q.lane_key = lanes.key and q.status = 'queued' and not q.held order by q.pos limit 1)
        in (select value from json_each(?4))) = ?5
 order by ready_at, key limit ?2;

-- name: ready_runs
-- The first queued run of the longest waiting lanes that may be claimed from now.
select r.id, r.agent, l.ready_at
  from (select * from (select key, ready_at from lanes
                       where active_run is null and runnable > 0 and suspect = 0 and ready_at <= now_ms()
                       order by ready_at, key limit ?1)
        union all
        select * from (select key, ready_at from lanes
                       where active_run is null and runnable > 0 and suspect = 1 and ready_at <= now_ms()
                       order by ready_at, key limit ?1)) l
  join runs r on r.id = (select q.id from runs q where q.lane_key = l.key and q.status = 'queued' and not q.held order by q.pos limit 1)
 order by l.ready_at, l.key limit ?1;

-- name: lane_heads
-- The first queued run of each lane that is not held, with the message that caused it.
select {run}, m.id as message_id, m.run_id as message_run, m.role, m.text, m.created_at as said_at,
       m.sender, m.parent_id as reply_to, m.parts, m.edited_at, m.deleted_at
  from json_each(?1) l
  join runs r on r.id = (select q.id from runs q where q.lane_key = l.value and q.status = 'queued' and not q.held order by q.pos limit 1)
  left join messages m on m.id = r.trigger_message_id;

-- name: lock_lanes
-- Lock lanes, in order.
select {lane} from lanes where key in (select value from json_each(?1)) order by key;

-- name: lock_free_lanes
-- These lanes, in order. With one writer all of them are free.
select {lane} from lanes where key in (select value from json_each(?1)) order by key;

-- name: save_lanes
-- Update lanes.
update lanes set runnable = ?2, active_run = ?3, ready_at = ?4, suspect = ?5 where key = ?1;

-- name: mark_suspects
-- Set whether the first queued run of each lane is a suspect.
update lanes set suspect = coalesce((select r.attempts >= ?2 from runs r where r.lane_key = lanes.key and r.status = 'queued' and not r.held
                                      order by r.pos limit 1), 0)
 where key in (select value from json_each(?1));

-- name: lock_dead_workers
-- Workers whose lease has expired.
select id from workers where lease_until <= now_ms() order by lease_until limit ?1;

-- name: end_stuck_sessions
-- Return no rows: SQLite has one process and no stuck sessions.
select 1 where false;

-- name: orphaned_runs
-- The runs of dead workers.
select id, lane_key from runs where worker_id in (select value from json_each(?1)) and status = 'running';

-- name: stray_runs
-- Running runs whose worker has no row, so that no lease of it can expire.
select id, lane_key, worker_id from runs r
 where status = 'running' and not exists (select 1 from workers w where w.id = r.worker_id) limit ?1;

-- name: overdue_runs
-- Runs that did not stop before their cancel deadline.
select id, lane_key from runs where status = 'running' and cancel_deadline <= now_ms() order by cancel_deadline limit ?1;

-- name: list_workers
-- All workers with their leases and the number of their runs.
select w.id, w.label, w.lease_until, w.started_at,
       (select count(*) from runs r where r.worker_id = w.id and r.status = 'running') as runs
  from workers w order by w.id;

-- name: detach_run
-- Set the disconnect deadline of a run; not of one that waits for a person.
update runs set detach_deadline = now_ms() + ?2
 where id = ?1 and status in ('queued', 'running') and cancel_requested_at is null;

-- name: attach_runs
-- Clear the disconnect deadline of runs that have a follower.
update runs set detach_deadline = null where id in (select value from json_each(?1)) and detach_deadline is not null;

-- name: detached_runs
-- Runs past their disconnect deadline.
select id, lane_key from runs
 where detach_deadline <= now_ms() and status in ('queued', 'running') and cancel_requested_at is null
 order by detach_deadline limit ?1;
