alter table runs add column unread int not null default 0;
create table steered_messages (
  message_id        uuid    primary key,
  run_id            uuid    not null,
  seq               bigint  not null,
  state             text    not null default 'new',
  next_run_id       uuid    not null,
  face              text    not null,
  agent             text    not null,
  id                uuid    not null,
  ts                bigint  not null,
  data              bytea   not null,
  has_client_tools  boolean not null,
  created_at        bigint  not null
);
create index steered_messages_run on steered_messages (run_id, seq);
create unique index steered_messages_next on steered_messages (next_run_id);
