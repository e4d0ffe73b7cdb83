-- Records as S3 and S4 draw them, and calls of tools with a rate limit.

-- `dated`: when its events are published is kept, event by event.
alter table run_outbox add column dated integer not null default 0;
update run_outbox set dated = 1 where run_id in (select id from runs where face = 'plans');

drop view run_publication;
-- When the events of plans were published: all up to `upto` that no earlier row covers. A row never changes.
create table publications (
  run_id        text    not null references run_outbox (run_id) on delete cascade,
  upto          integer not null,
  published_at  integer not null,
  primary key (run_id, upto)
) strict, without rowid;

-- The events of plans, each with the time of its publication, null until then.
create view run_publication as
  select e.run_id, e.seq, e.id, e.ts, e.type, e.v, e.source, e.name, e.fn,
         (select p.published_at from publications p where p.run_id = e.run_id and p.upto >= e.seq
           order by p.upto limit 1) as published_at,
         e.ts as created_at
    from run_events e join run_outbox o on o.run_id = e.run_id where o.dated;

-- The runs of plans. `v` is the version of this layout. A run changes with its last event and with its publication.
create view plan_runs as
  select coalesce(r.external_id, r.id) as id, r.id as server_run_id, r.owner, r.state, r.created_at as started_at,
         case when r.state <> 'started' then r.finished_at end as finished_at, r.last_seq, 1 as v, r.created_at,
         max(e.ts, o.updated_at) as updated_at
    from runs r join run_outbox o on o.run_id = r.id join run_events e on e.run_id = r.id and e.seq = r.last_seq
   where r.face = 'plans';

insert into publications (run_id, upto, published_at)
select run_id, next_seq - 1, updated_at from run_outbox where dated and next_seq > 1;

-- What S3 draws as not null is.
drop index run_steps_run;
drop index run_messages_run;
drop index run_messages_step;
alter table run_messages rename to old_run_messages;
alter table run_steps rename to old_run_steps;
-- What agents did in their mailboxes: written in the transaction of the events that it is made of.
create table run_steps (
  id             text    primary key,
  run_id         text    not null references runs (id) on delete cascade,
  step_number    integer not null,
  status         text    not null default 'running',
  model_id       text    not null,
  input_tokens   integer not null,
  output_tokens  integer not null,
  usd            real    not null,
  created_at     integer not null,
  completed_at   integer,
  token_usage    text    not null generated always as
    (json_object('input_tokens', input_tokens, 'output_tokens', output_tokens)) virtual
) strict;
create index run_steps_run on run_steps (run_id, step_number);

create table run_messages (
  id            text   primary key,
  run_id        text   not null references runs (id) on delete cascade,
  step_id       text   references run_steps (id) on delete cascade,
  message_type  text   not null,
  content       text   not null,
  tool_name     text,
  tool_input    text,
  created_at    integer not null
) strict;
create index run_messages_run on run_messages (run_id, created_at);
create index run_messages_step on run_messages (step_id);

insert into run_steps (id, run_id, step_number, status, model_id, input_tokens, output_tokens, usd, created_at, completed_at)
select id, run_id, step_number, status, coalesce(model_id, ''), input_tokens, output_tokens, usd, created_at, completed_at
  from old_run_steps;
insert into run_messages (id, run_id, step_id, message_type, content, tool_name, tool_input, created_at)
select id, run_id, step_id, message_type, coalesce(content, ''), tool_name, tool_input, created_at from old_run_messages;
drop table old_run_messages;
drop table old_run_steps;

-- The runs in mailboxes, with the place that they were set off in.
create view agent_runs as
  select r.id, r.agent as agent_id,
         case r.status when 'queued' then 'created' when 'waiting' then 'running' when 'done' then 'completed'
                       when 'error' then 'failed' when 'canceled' then 'cancelled' else r.status end as status,
         r.stop_reason, r.trigger_message_id, case when t.kind = 'channel' then r.thread_id end as channel_id,
         case when t.kind = 'dm' then r.thread_id end as dm_conversation_id, r.created_at, r.started_at,
         r.finished_at as completed_at,
         case when r.usage is not null then json_object(
           'input_tokens', coalesce(json_extract(r.usage, '$.input_tokens'), 0),
           'output_tokens', coalesce(json_extract(r.usage, '$.output_tokens'), 0)) end as token_usage
    from runs r left join threads t on t.id = r.thread_id where r.face = 'channels';

-- Deleting the row of an agent deletes its runs in mailboxes, with their logs and their ledger.
create trigger agents_deleted after delete on agents begin
  delete from approvals where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from run_outbox where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from run_events where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from feed where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from lanes where key in (select lane_key from runs where agent = old.id and face = 'channels');
  delete from runs where agent = old.id and face = 'channels';
end;

-- Calls of tools that have a rate limit, numbered for each owner, agent and tool. Only the calls that a limit still needs
-- are kept. `last` is the number of the last call.
create table tool_rates (
  owner      text    not null,
  agent      text    not null,
  tool       text    not null,
  last       integer not null default 0,
  called_at  integer not null default 0,
  primary key (owner, agent, tool)
) strict, without rowid;
create table tool_calls (
  owner      text    not null,
  agent      text    not null,
  tool       text    not null,
  no         integer not null,
  called_at  integer not null,
  primary key (owner, agent, tool, no),
  foreign key (owner, agent, tool) references tool_rates (owner, agent, tool) on delete cascade
) strict, without rowid;

-- Runs of an owner by their status.
create index runs_owner_status on runs (owner, status, id);
