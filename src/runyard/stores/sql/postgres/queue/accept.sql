-- The hot path of intake on Postgres: messages for chats become runs in one statement and one round trip. The script `accept`
-- in `transactions/queue/intake.py` is the specification: this statement writes the same rows, or none.

-- name: accept
-- Store messages, each for another thread, with their runs. A run whose lane is idle is claimed for the worker ($21) if its
-- lease is valid. Nothing is written and returned if a thread is missing or has another agent, if a lane is full ($22), or if
-- ids are from the future ($23). A change between that check and the locks makes `pos` null, and the error ends the statement.
-- Lanes are locked first, then threads, as in the script; a lock returns the newest version of a row.
with post as materialized (
  select * from unnest($1::text::uuid[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[], $6::text::text[],
                       $7::text::uuid[], $8::text::bigint[], $9::text::bool[], $10::text::bool[], $11::text::bool[],
                       $12::text::uuid[], $13::text::bigint[], $14::text::text[], $15::text::bytea[],
                       $16::text::uuid[], $17::text::text[], $18::text::text[], $19::text::text[], $20::text::text[])
    with ordinality as p (run_id, owner, face, lane_key, agent, agent_version,
                          thread_id, created_at, has_client_tools, names_agent, claimable,
                          event_id, ts, source, data,
                          message_id, role, text, sources, parts, no)
), refused as materialized (
  select 1 from post p
    left join threads t on t.id = p.thread_id and t.owner = p.owner and t.kind = 'chat'
    left join lanes l on l.key = p.lane_key
   where t.id is null or not (p.names_agent or coalesce(t.agent, p.agent) = p.agent) or l.runnable >= $22::int
      or now_ms() < $23::bigint
), alive as materialized (
  select id from workers where id = $21::uuid and lease_until > now_ms() for key share skip locked
), fresh as materialized (
  select p.*, p.claimable and exists (select 1 from alive) as may_start, row_number() over (order by p.lane_key) as place
    from post p where not exists (select 1 from refused)
), lane as (
  insert into lanes as l (key, next_pos, runnable, active_run, ready_at)
  select p.lane_key, 2, case when p.may_start then 0 else 1 end, case when p.may_start then p.run_id end, now_ms()
    from fresh p order by p.place
      on conflict (key)
      do update set
         next_pos = l.next_pos + 1,
         runnable = l.runnable + case when l.runnable = 0 and l.active_run is null then excluded.runnable else 1 end,
         active_run = case when l.runnable = 0 and l.active_run is null then excluded.active_run else l.active_run end,
         suspect = l.suspect and (l.runnable > 0 or l.active_run is not null or excluded.active_run is null),
         ready_at = case when l.runnable = 0 and l.active_run is null then excluded.ready_at else l.ready_at end
       where $22::int is null or l.runnable < $22::int
  returning key, next_pos - 1 as pos, active_run
), queue as materialized (  -- in the order of `place`
  select array_agg(pos order by key) as pos, array_agg(active_run order by key) as active, count(*) as n, now_ms() as now from lane
), head as materialized (
  select p.place, t.head_run_id from queue cross join fresh p join threads t on t.id = p.thread_id and t.owner = p.owner
   order by t.id for no key update of t
), parent as materialized (
  select array_agg(head_run_id order by place) as of, count(*) as n from head
), run as materialized (
  select p.*, case when queue.n = f.n and parent.n = f.n then queue.pos[p.place] end as pos, parent.of[p.place] as parent_id,
         coalesce(queue.active[p.place] = p.run_id, false) as started, queue.now
    from fresh p, queue, parent, (select count(*) as n from fresh) f
), new_runs as (
  insert into runs (id, owner, face, lane_key, pos, agent, thread_id, trigger_message_id, parent_id, created_at, has_client_tools,
                    last_seq, status, fence, attempts, agent_version, worker_id, started_at)
  select run_id, owner, face, lane_key, pos, agent, thread_id, message_id, parent_id, created_at, has_client_tools,
         1, case when started then 'running' else 'queued' end, started::int, started::int,
         case when started then agent_version end, case when started then $21::uuid end, case when started then now end
    from run
), cursors as (
  insert into run_outbox (run_id, updated_at) select run_id, now_ms() from run
), events as (
  insert into run_events (run_id, seq, id, ts, type, source, data, fence)
  select run_id, 1, event_id, ts, 'run.queued', source, data, 0 from run
), new_messages as (
  insert into messages (id, thread_id, run_id, role, text, sources, created_at, parts)
  select message_id, thread_id, run_id, role, text, sources, created_at, parts from run
), heads as (
  update threads t set head_run_id = r.run_id from run r where t.id = r.thread_id
)
select no, pos, parent_id, started, now from run;
