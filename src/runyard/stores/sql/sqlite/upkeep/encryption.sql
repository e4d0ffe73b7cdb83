-- name: keys_in_use
-- The keys that sealed content in this database.
select id, proof from encryption_keys order by id;

-- name: has_content
-- Whether the database has content: events, messages, memory or files.
select exists (select 1 from run_events) or exists (select 1 from messages) or exists (select 1 from memory_blocks)
    or exists (select 1 from passages) or exists (select 1 from file_contents) as found;

-- name: insert_encryption_key
-- Insert a key that seals content here; an existing proof stays.
insert into encryption_keys (id, proof, created_at) values (?1, ?2, now_ms()) on conflict do nothing;

-- name: forget_encryption_keys
-- Delete all keys except this one (or all): they have sealed nothing that is left.
delete from encryption_keys where id is not ?1;

-- name: seals_of_events
-- The next events in key order. Their data is null unless (it starts with ?3) equals ?4.
select run_id, seq, id, case when (substr(data, 1, length(?3)) = ?3) = ?4 then data end as data
  from run_events where (run_id, seq) > (?1, ?2) order by run_id, seq limit ?5;

-- name: swap_events
-- Replace the data of events, unless another transaction changed it.
update run_events set data = ?4 where run_id = ?1 and seq = ?2 and data = ?3;

-- name: seals_of_messages
-- The next messages. Their text is null unless (it starts with ?2, the sources with ?3 or the parts with ?4) equals ?5.
select id, sources, parts,
       case when (substr(text, 1, length(?2)) = ?2) = ?5
              or (sources <> '[]' and (substr(sources, 1, length(?3)) = ?3) = ?5)
              or coalesce((substr(parts, 1, length(?4)) = ?4) = ?5, false) then text end as text
  from messages where id > ?1 order by id limit ?6;

-- name: swap_messages
-- Replace the text, the sources and the parts of messages, unless another transaction changed them.
update messages set text = ?3, sources = ?5, parts = ?7 where id = ?1 and text = ?2 and sources = ?4 and parts is ?6;

-- name: seals_of_waits
-- The next waits. Their input is null unless (it starts with ?2) equals ?3.
select id, case when (substr(input, 1, length(?2)) = ?2) = ?3 then input end as input
  from waits where id > ?1 order by id limit ?4;

-- name: swap_waits
-- Replace the input of waits, unless another transaction changed it.
update waits set input = ?3 where id = ?1 and input = ?2;

-- name: seals_of_kept_events
-- The next kept events. Their data is null unless (it starts with ?3) equals ?4.
select owner, id, case when (substr(data, 1, length(?3)) = ?3) = ?4 then data end as data
  from kept_events where (owner, id) > (?1, ?2) order by owner, id limit ?5;

-- name: swap_kept_events
-- Replace the data of kept events, unless another transaction changed it.
update kept_events set data = ?4 where owner = ?1 and id = ?2 and data = ?3;

-- name: seals_of_pushes
-- The next pushes. Their data is null unless (it starts with ?3) equals ?4.
select run_id, id, case when (substr(data, 1, length(?3)) = ?3) = ?4 then data end as data
  from pushes where (run_id, id) > (?1, ?2) order by run_id, id limit ?5;

-- name: swap_pushes
-- Replace the data of pushes, unless another transaction changed it.
update pushes set data = ?4 where run_id = ?1 and id = ?2 and data = ?3;

-- name: seals_of_feedback
-- The next feedback. Its comment is null unless (it starts with ?2) equals ?3.
select run_id as id, case when (substr(comment, 1, length(?2)) = ?2) = ?3 then comment end as comment
  from feedback where run_id > ?1 order by run_id limit ?4;

-- name: swap_feedback
-- Replace the comment of feedback, unless another transaction changed it.
update feedback set comment = ?3 where run_id = ?1 and comment = ?2;

-- name: seals_of_runs
-- The next runs. Their error is null unless (it starts with ?2) equals ?3.
select id, case when (substr(error, 1, length(?2)) = ?2) = ?3 then error end as error from runs where id > ?1 order by id limit ?4;

-- name: swap_runs
-- Replace the error of runs, unless another transaction changed it.
update runs set error = ?3 where id = ?1 and error = ?2;

-- name: seals_of_checkpoints
-- The next checkpoints. Their data is null unless (it starts with ?2) equals ?3.
select run_id as id, case when (substr(data, 1, length(?2)) = ?2) = ?3 then data end as data
  from checkpoints where run_id > ?1 order by run_id limit ?4;

-- name: swap_checkpoints
-- Replace the data of checkpoints, unless another transaction changed it.
update checkpoints set data = ?3 where run_id = ?1 and data = ?2;

-- name: seals_of_blocks
-- The next memory blocks. Their content is null unless (it starts with ?2) equals ?3.
select id, agent, label, case when (substr(content, 1, length(?2)) = ?2) = ?3 then content end as content
  from memory_blocks where id > ?1 order by id limit ?4;

-- name: swap_blocks
-- Replace the content of blocks, unless another transaction changed it.
update memory_blocks set content = ?3 where id = ?1 and content = ?2;

-- name: seals_of_passages
-- The next passages. Their content is null unless (it starts with ?2, or the tags with ?3) equals ?4.
select id, tags, case when (substr(content, 1, length(?2)) = ?2) = ?4
                        or (tags <> '[]' and (substr(tags, 1, length(?3)) = ?3) = ?4) then content end as content
  from passages where id > ?1 order by id limit ?5;

-- name: swap_passages
-- Replace the content and the tags of passages, unless another transaction changed them.
update passages set content = ?3, tags = ?5 where id = ?1 and content = ?2 and tags = ?4;

-- name: seals_of_ledger
-- The next ledger messages. Their content is null unless (it starts with ?2, or the tool input with ?3) equals ?4.
select id, run_id, tool_input,
       case when (substr(content, 1, length(?2)) = ?2) = ?4
              or coalesce((substr(tool_input, 1, length(?3)) = ?3) = ?4, false) then content end as content
  from run_messages where id > ?1 order by id limit ?5;

-- name: swap_ledger
-- Replace the content and the tool input of ledger messages, unless another transaction changed them.
update run_messages set content = ?3, tool_input = ?5 where id = ?1 and content = ?2 and tool_input is ?4;

-- name: seals_of_titles
-- The next threads. Their title is null unless (it starts with ?2) equals ?3.
select id, case when (substr(title, 1, length(?2)) = ?2) = ?3 then title end as title
  from threads where id > ?1 order by id limit ?4;

-- name: swap_titles
-- Replace the title of threads, unless another transaction changed it.
update threads set title = ?3 where id = ?1 and title = ?2;

-- name: seals_of_files
-- The next files. Their name is null unless (it starts with ?2) equals ?3.
select id, case when (substr(name, 1, length(?2)) = ?2) = ?3 then name end as name from files where id > ?1 order by id limit ?4;

-- name: swap_files
-- Replace the name of files, unless another transaction changed it.
update files set name = ?3 where id = ?1 and name = ?2;

-- name: seals_of_chunks
-- The next chunks of files. Their data is null unless (it starts with ?3) equals ?4.
select content_id, no, case when (substr(data, 1, length(?3)) = ?3) = ?4 then data end as data
  from file_chunks where (content_id, no) > (?1, ?2) order by content_id, no limit ?5;

-- name: swap_chunks
-- Replace the data of chunks, unless another transaction changed it.
update file_chunks set data = ?4 where content_id = ?1 and no = ?2 and data = ?3;
