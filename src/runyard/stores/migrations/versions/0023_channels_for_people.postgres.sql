alter table messages add column edited_at bigint, add column deleted_at bigint;
create table read_positions (
  thread_id   uuid not null references threads (id) on delete cascade,
  reader      text not null,
  message_id  uuid not null,
  primary key (thread_id, reader)
);
