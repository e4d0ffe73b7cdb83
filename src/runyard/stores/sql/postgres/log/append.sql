-- The hot path on Postgres: a whole group of parts in one statement and one round trip. The write checks fence, batch and
-- status. Returned parts are written; the others go through the general script. Parts are sorted by run, and the plan
-- processes them in that order. (`coalesce` keeps the planner from scanning all running runs.)

-- name: append
-- Write parts without a move.
with part as (
  select * from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[], $4::text::int[], $5::text::bool[])
    with ordinality as p (run_id, fence, batch, n, progress, no)
), tip as (
  update runs r set last_seq = r.last_seq + p.n, last_batch = p.batch,
         attempts = case when p.progress then 0 else r.attempts end
    from part p
   where r.id = p.run_id and r.fence = p.fence and r.last_batch = p.batch - 1 and coalesce(r.status) = 'running'
  returning p.no, r.last_seq - p.n as base, r.cancel_requested_at is not null as cancel, r.unread
), base as (
  select array_agg(p.run_id order by p.no) as run_id, array_agg(p.fence order by p.no) as fence,
         array_agg(coalesce(t.base, -1) order by p.no) as of
    from part p left join tip t on t.no = p.no
), event as (
  insert into run_events (run_id, seq, id, ts, type, source, name, fn, data, fence)
  select base.run_id[e.no], base.of[e.no] + e.n, e.id, e.ts, e.type, e.source, e.name, e.fn, e.data, base.fence[e.no]
    from base, unnest($6::text::int[], $7::text::int[], $8::text::uuid[], $9::text::bigint[], $10::text::text[],
                      $11::text::text[], $12::text::text[], $13::text::text[], $14::text::bytea[]) as e (no, n, id, ts, type, source, name, fn, data)
   where base.of[e.no] >= 0
)
select no, base, cancel, false as ready, unread from tip;

-- name: append_and_finish
-- The same if some parts (those with a status) end their run: free its lane and store its answer. Parts that may not end
-- their run (a cancel is requested, a wait was requested, a message was not taken) or whose lane is locked are not written.
with part as (
  select * from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[], $4::text::int[], $5::text::bool[],
                       $6::text::text[], $7::text::text[], $8::text::text[], $9::text::text[], $10::text::text[], $11::text::text[],
                       $12::text::bigint[])
    with ordinality as p (run_id, fence, batch, n, progress, lane_key, status, stop_reason, error_code, error, usage, first_token_ms, no)
), lane as materialized (
  select l.key from lanes l where l.key = any($13::text::text[]) order by l.key for update skip locked
), tip as (
  update runs r set last_seq = r.last_seq + p.n, last_batch = p.batch,
         attempts = case when p.progress then 0 else r.attempts end,
         status = coalesce(p.status, r.status), stop_reason = p.stop_reason, error_code = p.error_code, error = p.error,
         usage = p.usage, first_token_ms = coalesce(p.first_token_ms, r.first_token_ms),
         worker_id = case when p.status is null then r.worker_id end,
         finished_at = case when p.status is not null then now_ms() end
    from part p left join lane on lane.key = p.lane_key
   where r.id = p.run_id and r.fence = p.fence and r.last_batch = p.batch - 1 and coalesce(r.status) = 'running'
     and (p.status is null or (lane.key is not null and r.asked = 0 and r.unread = 0
                               and (r.cancel_requested_at is null or p.status = 'canceled')))
  returning p.no, r.id, p.lane_key, p.status is not null as ended, r.last_seq - p.n as base,
            r.cancel_requested_at is not null as cancel, r.unread
), freed as (
  update lanes l set active_run = null, ready_at = now_ms() from tip t
   where t.ended and l.key = t.lane_key and l.active_run = t.id
  returning l.key, l.runnable > 0 as ready
), base as (
  select array_agg(p.run_id order by p.no) as run_id, array_agg(p.fence order by p.no) as fence,
         array_agg(coalesce(t.base, -1) order by p.no) as of
    from part p left join tip t on t.no = p.no
), event as (
  insert into run_events (run_id, seq, id, ts, type, source, name, fn, data, fence)
  select base.run_id[e.no], base.of[e.no] + e.n, e.id, e.ts, e.type, e.source, e.name, e.fn, e.data, base.fence[e.no]
    from base, unnest($14::text::int[], $15::text::int[], $16::text::uuid[], $17::text::bigint[], $18::text::text[],
                      $19::text::text[], $20::text::text[], $21::text::text[], $22::text::bytea[]) as e (no, n, id, ts, type, source, name, fn, data)
   where base.of[e.no] >= 0
), answer as (
  insert into messages (id, thread_id, run_id, role, text, sources, created_at, parts)
  select m.id, m.thread_id, m.run_id, m.role, m.text, m.sources, m.created_at, m.parts
    from unnest($23::text::uuid[], $24::text::uuid[], $25::text::uuid[], $26::text::text[], $27::text::text[], $28::text::text[],
                $29::text::bigint[], $30::text::text[]) as m (id, thread_id, run_id, role, text, sources, created_at, parts)
    join tip t on t.id = m.run_id
)
select t.no, t.base, t.cancel, coalesce(f.ready, false) as ready, t.unread from tip t left join freed f on f.key = t.lane_key;

-- name: publish
-- Advance cursors, never back; close those of ended runs, and of queued or waiting runs whose turn is unchanged, and set
-- the state of ended runs. Return the rows that another transaction has locked: one run never waits for another.
with mark as (
  select * from unnest($1::text::uuid[], $2::text::bigint[], $3::text::int[], $4::text::text[]) as m (run_id, upto, turn, state)
), ended as materialized (
  select r.id from runs r where r.id in (select run_id from mark where state is not null) order by r.id for update skip locked
), free as materialized (
  select o.run_id, o.next_seq, o.dated from run_outbox o
   where o.run_id in (select run_id from mark where state is null union all select id from ended)
   order by o.run_id for update skip locked
), dates as (
  insert into publications (run_id, upto, published_at)
  select f.run_id, m.upto, now_ms() from free f join mark m on m.run_id = f.run_id where f.dated and m.upto >= f.next_seq
), cursors as (
  update run_outbox o set next_seq = greatest(o.next_seq, m.upto + 1), updated_at = now_ms(),
         open = o.open and m.state is null and o.turn is distinct from m.turn
    from free f join mark m on m.run_id = f.run_id where o.run_id = f.run_id
), states as (
  update runs r set state = m.state from free f join mark m on m.run_id = f.run_id
   where r.id = f.run_id and m.state is not null and r.state = 'started'
)
select o.run_id from run_outbox o join mark m on m.run_id = o.run_id where o.run_id not in (select run_id from free);
