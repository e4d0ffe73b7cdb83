create table run_snapshots (
  run_id    uuid not null references runs (id) on delete cascade,
  kind      text not null,
  seq       bigint not null,
  data      bytea not null,
  saved_at  bigint not null,
  primary key (run_id, kind, seq)
);
