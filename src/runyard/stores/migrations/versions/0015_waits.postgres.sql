alter table approvals rename to waits;
alter table waits rename column tool to name;
alter table waits rename column decided_by to answered_by;
alter table waits rename column decided_at to answered_at;
alter table waits add column target text;
update waits set kind = 'confirmation' where kind = 'question';
alter index approvals_pkey rename to waits_pkey;
alter index approvals_run rename to waits_run;
alter index approvals_expiry rename to waits_expiry;
drop index approvals_pending;
create index waits_pending on waits (created_at, id)
  where state = 'pending' and kind in ('tool', 'unknown_outcome', 'confirmation', 'question', 'client_tool');
create index waits_target on waits (target) where state = 'pending' and target is not null;

-- For servers of the version before 0015, while they are replaced one by one. A later migration drops it.
create view approvals as
  select id, run_id, call_id, kind, name as tool, input, state, answered_by as decided_by, created_at,
         answered_at as decided_at, expires_at
    from waits;

create table kept_events (
  owner       text    not null,
  id          text    not null,
  name        text    not null,
  target      text    not null,
  data        bytea    not null,
  created_at  bigint not null,
  expires_at  bigint not null,
  taken_at    bigint,
  primary key (owner, id)
);
create index kept_events_target on kept_events (target, created_at) where taken_at is null;
create index kept_events_expiry on kept_events (expires_at);

alter table runs add column parent_run_id uuid;
alter table runs add column has_client_tools boolean not null default false;
create index runs_children on runs (parent_run_id) where parent_run_id is not null;
create index runs_children_alive on runs (parent_run_id)
  where parent_run_id is not null and status in ('queued', 'running', 'waiting');

-- States of an earlier form cannot be decoded.
delete from run_snapshots;

create or replace function drop_agent_runs() returns trigger language plpgsql as $$
declare
  gone   uuid[];
  queues text[];
begin
  select array_agg(id), array_agg(distinct lane_key) into gone, queues
    from runs where agent = old.id and face = 'channels';
  perform 1 from lanes where key = any(queues) order by key for update;
  delete from waits where run_id = any(gone);
  delete from run_outbox where run_id = any(gone);
  delete from run_events where run_id = any(gone);
  delete from feed where run_id = any(gone);
  delete from runs where id = any(gone);
  delete from lanes where key = any(queues);
  return null;
end $$;
