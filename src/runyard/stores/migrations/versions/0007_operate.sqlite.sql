-- Operate: how much of an owner waits is counted by an index of its own; old runs are dropped.

create index runs_queued_of on runs (owner) where status = 'queued';

-- What is kept, for a while, of runs that were dropped.
create table dropped_runs (
  id           text    primary key,
  owner        text    not null,
  external_id  text,
  agent        text    not null,
  status       text    not null,
  stop_reason  text,
  error_code   text,
  last_seq     integer not null,
  created_at   integer not null,
  finished_at  integer not null,
  dropped_at   integer not null,
  has_log      integer not null
) strict, without rowid;
create index dropped_runs_age on dropped_runs (dropped_at);
create index dropped_runs_external on dropped_runs (owner, external_id) where external_id is not null;
