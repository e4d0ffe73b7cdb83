-- The hot path on Postgres: a whole group of parts in one statement and one round trip. The write checks fence, batch and
-- status. Returned parts are written; the others go through the general script. Parts are sorted by run, and the plan
-- processes them in that order. (`coalesce` keeps the planner from scanning all running runs.)
-- No two of these lists are joined: without an index that takes the square of their length. A later step finds the row of a
-- part by its number, in an array or in a set that Postgres hashes.

-- name: append
-- Write parts without a move.
with part as materialized (
  select * from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[], $4::text::int[], $5::text::bool[])
    with ordinality as p (run_id, fence, batch, n, progress, no)
), tip as (
  update runs r set last_seq = r.last_seq + p.n, last_batch = p.batch,
         attempts = case when p.progress then 0 else r.attempts end
    from part p
   where r.id = p.run_id and r.fence = p.fence and r.last_batch = p.batch - 1 and coalesce(r.status) = 'running'
  returning p.no, r.last_seq - p.n as base, r.cancel_requested_at is not null as cancel, r.unread
), base as materialized (  -- by part: the seq before its first event, or -1 if it is refused
  select $1::text::uuid[] as run_id, $2::text::bigint[] as fence, array_agg(b.of order by b.no) as of
    from (select no, max(of) as of from (select no, base as of from tip union all select no, -1 from part) a group by no) b
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
with part as materialized (
  select * from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[], $4::text::int[], $5::text::bool[],
                       $6::text::text[], $7::text::text[], $8::text::text[], $9::text::text[], $10::text::text[], $11::text::text[],
                       $12::text::bigint[])
    with ordinality as p (run_id, fence, batch, n, progress, lane_key, status, stop_reason, error_code, error, usage, first_token_ms, no)
), ending as materialized (
  select p.* from part p join lanes l on l.key = p.lane_key where p.status is not null order by l.key for update of l skip locked
), todo as materialized (
  select * from (select * from part where status is null union all select * from ending) p order by p.no
), tip as (
  update runs r set last_seq = r.last_seq + p.n, last_batch = p.batch,
         attempts = case when p.progress then 0 else r.attempts end,
         status = coalesce(p.status, r.status), stop_reason = p.stop_reason, error_code = p.error_code, error = p.error,
         usage = p.usage, first_token_ms = coalesce(p.first_token_ms, r.first_token_ms),
         worker_id = case when p.status is null then r.worker_id end,
         finished_at = case when p.status is not null then now_ms() end
    from todo p
   where r.id = p.run_id and r.fence = p.fence and r.last_batch = p.batch - 1 and coalesce(r.status) = 'running'
     and (p.status is null or (r.asked = 0 and r.unread = 0 and (r.cancel_requested_at is null or p.status = 'canceled')))
  returning p.no, r.id, p.lane_key, p.status is not null as ended, r.last_seq - p.n as base,
            r.cancel_requested_at is not null as cancel, r.unread
), freed as (
  update lanes l set active_run = null, ready_at = now_ms() from tip t
   where t.ended and l.key = t.lane_key and l.active_run = t.id
  returning t.no, l.runnable > 0 as ready
), base as materialized (
  select $1::text::uuid[] as run_id, $2::text::bigint[] as fence, array_agg(b.of order by b.no) as of
    from (select no, max(of) as of from (select no, base as of from tip union all select no, -1 from part) a group by no) b
), event as (
  insert into run_events (run_id, seq, id, ts, type, source, name, fn, data, fence)
  select base.run_id[e.no], base.of[e.no] + e.n, e.id, e.ts, e.type, e.source, e.name, e.fn, e.data, base.fence[e.no]
    from base, unnest($13::text::int[], $14::text::int[], $15::text::uuid[], $16::text::bigint[], $17::text::text[],
                      $18::text::text[], $19::text::text[], $20::text::text[], $21::text::bytea[]) as e (no, n, id, ts, type, source, name, fn, data)
   where base.of[e.no] >= 0
), answer as (
  insert into messages (id, thread_id, run_id, role, text, sources, created_at, parts)
  select m.id, m.thread_id, m.run_id, m.role, m.text, m.sources, m.created_at, m.parts
    from base, unnest($22::text::int[], $23::text::uuid[], $24::text::uuid[], $25::text::uuid[], $26::text::text[], $27::text::text[],
                      $28::text::text[], $29::text::bigint[], $30::text::text[]) as m (no, id, thread_id, run_id, role, text, sources, created_at, parts)
   where base.of[m.no] >= 0
)
select no, base, cancel, no in (select no from freed where ready) as ready, unread from tip;

-- name: publish
-- Advance cursors, never back; close those of ended runs, and of queued or waiting runs whose turn is unchanged, and set
-- the state of ended runs. Return the rows that another transaction has locked: one run never waits for another.
with mark as materialized (
  select * from unnest($1::text::uuid[], $2::text::bigint[], $3::text::int[], $4::text::text[]) as m (run_id, upto, turn, state)
), ended as materialized (
  select m.* from mark m join runs r on r.id = m.run_id where m.state is not null order by r.id for update of r skip locked
), free as materialized (
  select m.*, o.next_seq, o.dated from (select * from mark where state is null union all select * from ended) m
    join run_outbox o on o.run_id = m.run_id order by o.run_id for update of o skip locked
), dates as (
  insert into publications (run_id, upto, published_at)
  select run_id, upto, now_ms() from free where dated and upto >= next_seq
), cursors as (
  update run_outbox o set next_seq = greatest(o.next_seq, f.upto + 1), updated_at = now_ms(),
         open = o.open and f.state is null and o.turn is distinct from f.turn
    from free f where o.run_id = f.run_id
), states as (
  update runs r set state = f.state from free f where r.id = f.run_id and f.state is not null and r.state = 'started'
)
select o.run_id from mark m join run_outbox o on o.run_id = m.run_id where m.run_id not in (select run_id from free);
