create table feedback (
  run_id      uuid    primary key references runs (id) on delete cascade,
  value       text    not null check (value in ('up', 'down')),
  comment     text,
  created_at  bigint  not null
);
create table shares (
  id          uuid    primary key,
  owner       text    not null,
  thread_id   uuid    not null references threads (id) on delete cascade,
  digest      text    not null unique,
  upto        uuid    not null,
  created_at  bigint  not null,
  expires_at  bigint  not null
);
create index shares_thread on shares (thread_id, id);
create index shares_expiry on shares (expires_at);
