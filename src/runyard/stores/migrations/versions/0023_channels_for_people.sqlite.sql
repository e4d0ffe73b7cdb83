alter table messages add column edited_at integer;
alter table messages add column deleted_at integer;
create table read_positions (
  thread_id   text not null references threads (id) on delete cascade,
  reader      text not null,
  message_id  text not null,
  primary key (thread_id, reader)
) strict, without rowid;
