-- name: save_steps
-- Insert or update steps; known values stay.
insert into run_steps (id, run_id, step_number, status, model_id, input_tokens, output_tokens, usd, created_at, completed_at)
select s.* from unnest($1::text::uuid[], $2::text::uuid[], $3::text::int[], $4::text::text[], $5::text::text[], $6::text::bigint[],
                       $7::text::bigint[], $8::text::float8[], $9::text::bigint[], $10::text::bigint[]) as s
    on conflict (id) do update set status = excluded.status, model_id = coalesce(nullif(excluded.model_id, ''), run_steps.model_id),
       input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, usd = excluded.usd,
       completed_at = excluded.completed_at;

-- name: insert_ledger_messages
-- Insert ledger messages.
insert into run_messages (id, run_id, step_id, message_type, content, tool_name, tool_input, created_at)
select m.* from unnest($1::text::uuid[], $2::text::uuid[], $3::text::uuid[], $4::text::text[], $5::text::text[], $6::text::text[],
                       $7::text::text[], $8::text::bigint[]) as m;

-- name: close_steps
-- Mark the unfinished steps of ended runs as failed, and the last step of those that failed ($2).
update run_steps s set status = 'failed', completed_at = coalesce(s.completed_at, now_ms())
 where s.run_id = any($1::uuid[]) and (s.status = 'running' or s.run_id = any($2::uuid[])
   and not exists (select 1 from run_steps l where l.run_id = s.run_id and l.step_number > s.step_number));

-- name: read_steps
-- The steps of a run, in order.
select id, run_id, step_number, status, model_id, input_tokens, output_tokens, usd, created_at, completed_at
  from run_steps where run_id = $1 order by step_number;

-- name: read_ledger_messages
-- The ledger messages of a run, in order.
select id, run_id, step_id, message_type, content, tool_name, tool_input, created_at
  from run_messages where run_id = $1 order by created_at, id;

-- name: usage_by_day
-- The cost of an agent's runs for an owner per day, latest first.
select s.created_at / 86400000 as day, count(distinct s.run_id) as runs, count(*) as steps,
       sum(s.input_tokens)::bigint as input_tokens, sum(s.output_tokens)::bigint as output_tokens, sum(s.usd) as usd
  from runs r join run_steps s on s.run_id = r.id
 where r.agent = $2 and r.owner = $1 and r.face = 'channels' group by day order by day desc limit $3;

-- name: run_groups
-- Runs from an id on, counted by day, agent, end and durations; of an owner, or of all.
select g.day, g.agent, g.status, g.error_code, g.waited, g.took, count(*) as runs,
       sum(g.input_tokens)::bigint as input_tokens, sum(g.output_tokens)::bigint as output_tokens, sum(g.usd) as usd
  from (select r.created_at / 86400000 as day, r.agent, r.status, r.error_code,
               width_bucket(r.started_at - r.created_at, $4::bigint[]) as waited,
               width_bucket(r.finished_at - r.started_at, $4::bigint[]) as took,
               case when r.parent_run_id is null then coalesce((r.usage::jsonb ->> 'input_tokens')::bigint, 0) else 0 end as input_tokens,
               case when r.parent_run_id is null then coalesce((r.usage::jsonb ->> 'output_tokens')::bigint, 0) else 0 end as output_tokens,
               case when r.parent_run_id is null then coalesce((r.usage::jsonb ->> 'usd')::double precision, 0) else 0 end as usd
          from runs r where r.id >= $2 and ($1::text is null or r.owner = $1) and ($3::text is null or r.agent = $3)) g
 group by g.day, g.agent, g.status, g.error_code, g.waited, g.took order by g.day, g.agent;

-- name: first_tokens
-- Runs from an id on that had a first token, counted by day, agent and the time to it; of an owner, or of all.
select r.created_at / 86400000 as day, r.agent, width_bucket(r.first_token_ms, $4::bigint[]) as place, count(*) as runs
  from runs r where r.id >= $2 and ($1::text is null or r.owner = $1) and ($3::text is null or r.agent = $3)
   and r.first_token_ms is not null
 group by 1, 2, 3 order by 1, 2, 3;

-- name: queue_state
-- The runs that have not started, and for how long the oldest has waited; of an owner or of all. Counts stop at a limit.
select count(*) as runs, now_ms() - min(q.created_at) as oldest_ms
  from (select r.created_at from runs r
         where r.status = 'queued' and r.started_at is null and ($1::text is null or r.owner = $1)
           and ($2::text is null or r.agent = $2) limit $3::int) q;

-- name: list_mailbox_runs
-- An owner's runs in an agent's mailbox, newest first.
select {run} from runs r
 where r.agent = $2 and r.face = 'channels' and r.owner = $1 and ($3::uuid is null or r.id < $3)
 order by r.id desc limit $4;

-- name: holding_runs
-- Those of these runs that are the active run of their lane.
select r.id from runs r join lanes l on l.key = r.lane_key and l.active_run = r.id
 where r.id = any($1::uuid[]);
