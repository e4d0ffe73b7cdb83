-- fragment: run
r.id, r.owner, r.face, r.lane_key, r.pos, r.agent, r.agent_version, r.thread_id, r.trigger_message_id, r.parent_id, r.retry_of,
r.superseded_by, r.status, r.stop_reason, r.error_code, r.error, r.usage, r.fence, r.last_seq, r.last_batch, r.attempts,
r.resume_why, r.worker_id, r.asked, r.cancel_requested_at, r.cancel_deadline, r.created_at, r.started_at, r.finished_at,
r.external_id, r.state, r.detach_deadline, r.held, r.after_run, r.depth, r.parent_run_id,
r.has_client_tools, r.unread, r.first_token_ms

-- name: lock_runs
-- Lock runs, in order.
select {run}, now_ms() as now from runs r where r.id = any($1::uuid[]) order by r.id for update;

-- name: save_runs
-- Update locked runs.
update runs r set status = s.status, agent_version = s.agent_version, stop_reason = s.stop_reason, error_code =
       s.error_code, error = s.error, usage = s.usage, fence = s.fence, last_seq = s.last_seq, last_batch =
       s.last_batch, attempts = s.attempts, resume_why = s.resume_why, worker_id = s.worker_id, asked = s.asked,
       cancel_requested_at = s.cancel_requested_at, cancel_deadline = s.cancel_deadline, started_at = s.started_at,
       finished_at = s.finished_at, detach_deadline = s.detach_deadline, unread = s.unread, first_token_ms = s.first_token_ms
    from unnest($1::text::uuid[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[], $6::text::text[], $7::text::text[],
              $8::text::bigint[], $9::text::bigint[], $10::text::bigint[], $11::text::int[], $12::text::text[], $13::text::uuid[], $14::text::int[], $15::text::bigint[],
              $16::text::bigint[], $17::text::bigint[], $18::text::bigint[], $19::text::bigint[], $20::text::int[], $21::text::bigint[])
        as s (id, status, agent_version, stop_reason, error_code, error, usage, fence, last_seq, last_batch,
          attempts, resume_why, worker_id, asked, cancel_requested_at, cancel_deadline, started_at, finished_at,
          detach_deadline, unread, first_token_ms)
 where r.id = s.id;

-- name: write_events
-- Insert events of locked runs, with their seqs.
insert into run_events (run_id, seq, id, ts, type, source, name, fn, data, fence)
select * from unnest($1::text::uuid[], $2::text::bigint[], $3::text::uuid[], $4::text::bigint[], $5::text::text[], $6::text::text[], $7::text::text[], $8::text::text[],
                     $9::text::bytea[], $10::text::bigint[]);

-- name: read_events
-- A range of a log, in order.
select seq, id, ts, type, data, name, fn, source, v from run_events where run_id = $1 and seq > $2 order by seq limit $3;

-- name: read_logs
-- The beginnings of several logs, in order.
select e.run_id, e.seq, e.id, e.ts, e.type, e.data, e.name, e.fn, e.source, e.v
  from unnest($1::uuid[]) as l (run_id) join run_events e on e.run_id = l.run_id and e.seq <= $2 order by e.run_id, e.seq;

-- name: heads
-- The heads of logs: last seq, published seq, and whether the run has ended.
select r.id, r.last_seq, r.status in ('done', 'error', 'canceled') as finished, o.next_seq - 1 as published,
       r.detach_deadline is not null as detached
  from runs r join run_outbox o on o.run_id = r.id where r.id = any($1::uuid[]);

-- name: maintain
-- Create the log's next partitions before they are needed.
select add_event_partitions(4);
