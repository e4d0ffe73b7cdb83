alter table messages add column parts text;
create table file_contents (
  id          uuid   primary key,
  owner       text   not null,
  digest      text,
  size        bigint not null default 0,
  place       text   not null,
  state       text   not null default 'uploading',
  touched_at  bigint not null
);
create unique index file_contents_digest on file_contents (owner, digest) where state = 'ready';
create index file_contents_open on file_contents (state, touched_at) where state <> 'ready';
create table file_chunks (
  content_id  uuid  not null references file_contents (id) on delete cascade,
  no          int   not null,
  data        bytea not null,
  primary key (content_id, no)
);
create table files (
  id          uuid    primary key,
  owner       text    not null,
  content_id  uuid    not null references file_contents (id) on delete cascade,
  name        text    not null,
  type        text    not null,
  size        bigint  not null,
  is_used     boolean not null default false,
  created_at  bigint  not null
);
create index files_content on files (content_id);
create index files_unused on files (created_at) where not is_used;
create table file_uses (
  file_id     uuid not null references files (id) on delete cascade,
  message_id  uuid references messages (id) on delete cascade,
  run_id      uuid references runs (id) on delete cascade
);
create index file_uses_file on file_uses (file_id);
create index file_uses_message on file_uses (message_id) where message_id is not null;
create index file_uses_run on file_uses (run_id) where run_id is not null;
create function drop_unused_file() returns trigger language plpgsql as $$
begin
  perform 1 from files where id = old.file_id for update;
  delete from files where id = old.file_id and not exists (select 1 from file_uses u where u.file_id = old.file_id);
  return null;
end $$;
create trigger file_uses_deleted after delete on file_uses for each row execute function drop_unused_file();
create function drop_unused_content() returns trigger language plpgsql as $$
begin
  perform 1 from file_contents where id = old.content_id for update;
  if not exists (select 1 from files f where f.content_id = old.content_id) then
    delete from file_contents where id = old.content_id and place = 'database';
    update file_contents set state = 'dropped', touched_at = now_ms() where id = old.content_id;
  end if;
  return null;
end $$;
create trigger files_deleted after delete on files for each row execute function drop_unused_content();
