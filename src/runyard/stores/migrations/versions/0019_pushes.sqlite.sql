create table pushes (
  run_id      text    not null references runs (id) on delete cascade,
  id          text    not null,
  kind        text    not null,
  data        blob    not null,
  seq         integer not null default 0,
  failures    integer not null default 0,
  due_at      integer,
  created_at  integer not null,
  primary key (run_id, id)
) strict, without rowid;
create index pushes_due on pushes (due_at) where due_at is not null;
create index runs_owner_ended on runs (owner, finished_at, id) where finished_at is not null;
