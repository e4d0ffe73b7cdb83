-- fragment: file
f.id, f.owner, f.name, f.type, f.size, f.content_id, f.created_at, c.place

-- name: begin_upload
-- Insert a content that is being uploaded.
insert into file_contents (id, owner, place, touched_at) values (?1, ?2, ?3, now_ms());

-- name: touch_upload
-- Record that an upload continues. Return nothing if there is no such upload.
update file_contents set touched_at = now_ms() where id = ?1 and state = 'uploading' returning id;

-- name: put_chunk
-- Insert or replace a chunk of an upload.
insert into file_chunks (content_id, no, data) values (?1, ?2, ?3)
    on conflict (content_id, no) do update set data = excluded.data;

-- name: known_content
-- The content of an owner with this digest, locked against deletion.
select id, place from file_contents where owner = ?1 and digest = ?2 and state = 'ready';

-- name: complete_content
-- Make an uploaded content ready. Return nothing if there is no such upload.
update file_contents set state = 'ready', digest = ?2, size = ?3 where id = ?1 and state = 'uploading' returning place;

-- name: drop_upload
-- Delete an upload from the database, with its chunks.
delete from file_contents where id = ?1 and state = 'uploading' and place = 'database';

-- name: abandon_upload
-- Mark an upload for deletion from the object store.
update file_contents set state = 'dropped', touched_at = now_ms() where id = ?1 and state = 'uploading';

-- name: insert_file
-- Insert a file.
insert into files (id, owner, content_id, name, type, size, created_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: get_file
-- A file of an owner.
select {file} from files f join file_contents c on c.id = f.content_id where f.owner = ?1 and f.id = ?2;

-- name: read_chunk
-- One chunk of a content.
select data from file_chunks where content_id = ?1 and no = ?2;

-- name: use_files
-- Mark files of an owner as used, and lock them. Return those that exist.
update files set is_used = 1 where owner = ?1 and id in (select value from json_each(?2)) returning id;

-- name: insert_message_uses
-- Record that messages refer to files.
insert into file_uses (file_id, message_id) values (?1, ?2);

-- name: insert_run_use
-- Record that a run refers to a file, unless the run was deleted.
insert into file_uses (file_id, run_id) select ?1, id from runs where id = ?2 returning file_id;

-- name: drop_unused_files
-- Delete files of an age that nothing ever referred to.
delete from files where id in
  (select id from files where not is_used and created_at <= now_ms() - ?1 order by created_at limit ?2)
returning id;

-- name: stale_uploads
-- Uploads in which nothing was written for a time.
select id from file_contents where state = 'uploading' and touched_at <= now_ms() - ?1 order by touched_at limit ?2;

-- name: dropped_contents
-- Contents to delete from the object store.
select id from file_contents where state = 'dropped' order by touched_at limit ?1;

-- name: forget_content
-- Delete the row of a dropped content.
delete from file_contents where id = ?1 and state = 'dropped';
