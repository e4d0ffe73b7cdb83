alter table runs add column unread integer not null default 0;
create table steered_messages (
  message_id        text    primary key,
  run_id            text    not null,
  seq               integer not null,
  state             text    not null default 'new',
  next_run_id       text    not null,
  face              text    not null,
  agent             text    not null,
  id                text    not null,
  ts                integer not null,
  data              blob    not null,
  has_client_tools  integer not null,
  created_at        integer not null
) strict;
create index steered_messages_run on steered_messages (run_id, seq);
create unique index steered_messages_next on steered_messages (next_run_id);
