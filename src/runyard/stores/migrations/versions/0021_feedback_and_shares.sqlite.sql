create table feedback (
  run_id      text    primary key not null references runs (id) on delete cascade,
  value       text    not null check (value in ('up', 'down')),
  comment     text,
  created_at  integer not null
) strict, without rowid;
create table shares (
  id          text    primary key not null,
  owner       text    not null,
  thread_id   text    not null references threads (id) on delete cascade,
  digest      text    not null unique,
  upto        text    not null,
  created_at  integer not null,
  expires_at  integer not null
) strict, without rowid;
create index shares_thread on shares (thread_id, id);
create index shares_expiry on shares (expires_at);
