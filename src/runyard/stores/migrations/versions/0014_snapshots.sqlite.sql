create table run_snapshots (
  run_id    text not null references runs (id) on delete cascade,
  kind      text not null,
  seq       integer not null,
  data      blob not null,
  saved_at  integer not null,
  primary key (run_id, kind, seq)
) strict;
