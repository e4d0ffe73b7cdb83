-- fragment: run
r.id, r.owner, r.face, r.lane_key, r.pos, r.agent, r.agent_version, r.thread_id, r.trigger_message_id, r.parent_id, r.retry_of,
r.superseded_by, r.status, r.stop_reason, r.error_code, r.error, r.usage, r.fence, r.last_seq, r.last_batch, r.attempts,
r.resume_why, r.worker_id, r.asked, r.cancel_requested_at, r.cancel_deadline, r.created_at, r.started_at, r.finished_at,
r.external_id, r.state, r.detach_deadline, r.held, r.after_run, r.depth, r.parent_run_id,
r.has_client_tools, r.unread, r.first_token_ms

-- name: lock_runs
-- Lock runs, in order.
select {run}, now_ms() as now from runs r where r.id in (select value from json_each(?1)) order by r.id;

-- name: save_runs
-- Update runs.
update runs set status = ?2, agent_version = ?3, stop_reason = ?4, error_code = ?5, error = ?6, usage = ?7,
       fence = ?8, last_seq = ?9, last_batch = ?10, attempts = ?11, resume_why = ?12, worker_id = ?13, asked = ?14,
       cancel_requested_at = ?15, cancel_deadline = ?16, started_at = ?17, finished_at = ?18, detach_deadline = ?19,
       unread = ?20, first_token_ms = ?21
 where id = ?1;

-- name: write_events
-- Insert events with their seqs.
insert into run_events (run_id, seq, id, ts, type, source, name, fn, data, fence)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: read_events
-- A range of a log, in order.
select seq, id, ts, type, data, name, fn, source, v from run_events where run_id = ?1 and seq > ?2 order by seq limit ?3;

-- name: read_logs
-- The beginnings of several logs, in order.
select e.run_id, e.seq, e.id, e.ts, e.type, e.data, e.name, e.fn, e.source, e.v
  from run_events e where e.run_id in (select value from json_each(?1)) and e.seq <= ?2 order by e.run_id, e.seq;

-- name: heads
-- The heads of logs: last seq, published seq, and whether the run has ended.
select r.id, r.last_seq, r.status in ('done', 'error', 'canceled') as finished, o.next_seq - 1 as published,
       r.detach_deadline is not null as detached
  from runs r join run_outbox o on o.run_id = r.id where r.id in (select value from json_each(?1));

-- name: maintain
-- Update the statistics for the query planner.
pragma optimize;
