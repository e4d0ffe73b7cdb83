drop trigger agents_deleted;
create table waits (
  id           text    primary key,
  run_id       text    not null,
  call_id      text    not null,
  kind         text    not null,
  name         text    not null,
  input        blob    not null,
  state        text    not null default 'pending',
  answered_by  text,
  created_at   integer not null,
  answered_at  integer,
  expires_at   integer,
  target       text
) strict;
insert into waits (id, run_id, call_id, kind, name, input, state, answered_by, created_at, answered_at, expires_at)
select id, run_id, call_id, case kind when 'question' then 'confirmation' else kind end, tool, input, state, decided_by,
       created_at, decided_at, expires_at
  from approvals;
drop table approvals;
create index waits_run on waits (run_id);
create index waits_expiry on waits (expires_at) where state = 'pending' and expires_at is not null;
create index waits_pending on waits (created_at, id)
  where state = 'pending' and kind in ('tool', 'unknown_outcome', 'confirmation', 'question', 'client_tool');
create index waits_target on waits (target) where state = 'pending' and target is not null;

create table kept_events (
  owner       text    not null,
  id          text    not null,
  name        text    not null,
  target      text    not null,
  data        blob    not null,
  created_at  integer not null,
  expires_at  integer not null,
  taken_at    integer,
  primary key (owner, id)
) strict, without rowid;
create index kept_events_target on kept_events (target, created_at) where taken_at is null;
create index kept_events_expiry on kept_events (expires_at);

alter table runs add column parent_run_id text;
alter table runs add column has_client_tools integer not null default 0;
create index runs_children on runs (parent_run_id) where parent_run_id is not null;
create index runs_children_alive on runs (parent_run_id)
  where parent_run_id is not null and status in ('queued', 'running', 'waiting');

-- States of an earlier form cannot be decoded.
delete from run_snapshots;

create trigger agents_deleted after delete on agents begin
  delete from waits where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from run_outbox where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from run_events where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from feed where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from lanes where key in (select lane_key from runs where agent = old.id and face = 'channels');
  delete from runs where agent = old.id and face = 'channels';
end;
