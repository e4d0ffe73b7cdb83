alter table messages add column parts text;
create table file_contents (
  id          text    primary key,
  owner       text    not null,
  digest      text,
  size        integer not null default 0,
  place       text    not null,
  state       text    not null default 'uploading',
  touched_at  integer not null
) strict;
create unique index file_contents_digest on file_contents (owner, digest) where state = 'ready';
create index file_contents_open on file_contents (state, touched_at) where state <> 'ready';
create table file_chunks (
  content_id  text    not null references file_contents (id) on delete cascade,
  no          integer not null,
  data        blob    not null,
  primary key (content_id, no)
) strict;
create table files (
  id          text    primary key,
  owner       text    not null,
  content_id  text    not null references file_contents (id) on delete cascade,
  name        text    not null,
  type        text    not null,
  size        integer not null,
  is_used     integer not null default 0,
  created_at  integer not null
) strict;
create index files_content on files (content_id);
create index files_unused on files (created_at) where not is_used;
create table file_uses (
  file_id     text not null references files (id) on delete cascade,
  message_id  text references messages (id) on delete cascade,
  run_id      text references runs (id) on delete cascade
) strict;
create index file_uses_file on file_uses (file_id);
create index file_uses_message on file_uses (message_id) where message_id is not null;
create index file_uses_run on file_uses (run_id) where run_id is not null;
create trigger file_uses_deleted after delete on file_uses begin
  delete from files where id = old.file_id and not exists (select 1 from file_uses u where u.file_id = old.file_id);
end;
create trigger files_deleted after delete on files begin
  delete from file_contents where id = old.content_id and place = 'database'
     and not exists (select 1 from files f where f.content_id = old.content_id);
  update file_contents set state = 'dropped', touched_at = cast((julianday('now') - 2440587.5) * 86400000 as integer) where id = old.content_id
     and not exists (select 1 from files f where f.content_id = old.content_id);
end;
