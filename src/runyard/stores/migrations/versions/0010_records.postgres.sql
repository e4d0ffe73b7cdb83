-- Records as S3 and S4 draw them, and calls of tools with a rate limit.

-- `dated`: when its events are published is kept, event by event.
alter table run_outbox add column dated boolean not null default false;
update run_outbox o set dated = true from runs r where r.id = o.run_id and r.face = 'plans';

drop view run_publication;
-- When the events of plans were published: all up to `upto` that no earlier row covers. A row never changes.
create table publications (
  run_id        uuid   not null references run_outbox (run_id) on delete cascade,
  upto          bigint not null,
  published_at  bigint not null,
  primary key (run_id, upto)
);

-- The events of plans, each with the time of its publication, null until then.
create view run_publication as
  select e.run_id, e.seq, e.id, e.ts, e.type, e.v, e.source, e.name, e.fn,
         (select p.published_at from publications p where p.run_id = e.run_id and p.upto >= e.seq
           order by p.upto limit 1) as published_at,
         e.ts as created_at
    from run_events e join run_outbox o on o.run_id = e.run_id where o.dated;

-- The runs of plans. `v` is the version of this layout. A run changes with its last event and with its publication.
create view plan_runs as
  select coalesce(r.external_id, r.id::text) as id, r.id as server_run_id, r.owner, r.state, r.created_at as started_at,
         case when r.state <> 'started' then r.finished_at end as finished_at, r.last_seq, 1 as v, r.created_at,
         greatest(e.ts, o.updated_at) as updated_at
    from runs r join run_outbox o on o.run_id = r.id join run_events e on e.run_id = r.id and e.seq = r.last_seq
   where r.face = 'plans';

insert into publications (run_id, upto, published_at)
select run_id, next_seq - 1, updated_at from run_outbox where dated and next_seq > 1;

-- What S3 draws as not null is.
update run_steps set model_id = '' where model_id is null;
alter table run_steps alter column model_id set not null, alter column status set default 'running';
alter table run_steps add column token_usage jsonb not null generated always as
  (('{"input_tokens": ' || input_tokens::text || ', "output_tokens": ' || output_tokens::text || '}')::jsonb) stored;
update run_messages set content = '' where content is null;
alter table run_messages alter column content set not null;

-- The runs in mailboxes, with the place that they were set off in.
create view agent_runs as
  select r.id, r.agent as agent_id,
         case r.status when 'queued' then 'created' when 'waiting' then 'running' when 'done' then 'completed'
                       when 'error' then 'failed' when 'canceled' then 'cancelled' else r.status end as status,
         r.stop_reason, r.trigger_message_id, case when t.kind = 'channel' then r.thread_id end as channel_id,
         case when t.kind = 'dm' then r.thread_id end as dm_conversation_id, r.created_at, r.started_at,
         r.finished_at as completed_at,
         case when r.usage is not null then jsonb_build_object(
           'input_tokens', coalesce((r.usage::jsonb ->> 'input_tokens')::bigint, 0),
           'output_tokens', coalesce((r.usage::jsonb ->> 'output_tokens')::bigint, 0)) end as token_usage
    from runs r left join threads t on t.id = r.thread_id where r.face = 'channels';

-- Deleting the row of an agent deletes its runs in mailboxes, with their logs and their ledger. (No foreign key: creating a
-- run would have to lock the row of its agent.)
create function drop_agent_runs() returns trigger language plpgsql as $$
declare
  gone   uuid[];
  queues text[];
begin
  select array_agg(id), array_agg(distinct lane_key) into gone, queues
    from runs where agent = old.id and face = 'channels';
  perform 1 from lanes where key = any(queues) order by key for update;
  delete from approvals where run_id = any(gone);
  delete from run_outbox where run_id = any(gone);
  delete from run_events where run_id = any(gone);
  delete from feed where run_id = any(gone);
  delete from runs where id = any(gone);
  delete from lanes where key = any(queues);
  return null;
end $$;
create trigger agents_deleted after delete on agents for each row execute function drop_agent_runs();

-- Calls of tools that have a rate limit, numbered for each owner, agent and tool. Only the calls that a limit still needs
-- are kept. `last` is the number of the last call, and the row is the lock of the count.
create table tool_rates (
  owner      text   not null,
  agent      text   not null,
  tool       text   not null,
  last       bigint not null default 0,
  called_at  bigint not null default 0,
  primary key (owner, agent, tool)
) with (fillfactor = 50);
create table tool_calls (
  owner      text   not null,
  agent      text   not null,
  tool       text   not null,
  no         bigint not null,
  called_at  bigint not null,
  primary key (owner, agent, tool, no),
  foreign key (owner, agent, tool) references tool_rates (owner, agent, tool) on delete cascade
);

-- Runs of an owner by their status.
create index runs_owner_status on runs (owner, status, id);
