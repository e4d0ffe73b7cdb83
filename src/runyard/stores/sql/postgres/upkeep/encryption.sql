-- name: keys_in_use
-- The keys that sealed content in this database.
select id, proof from encryption_keys order by id;

-- name: has_content
-- Whether the database has content: events, messages, memory or files.
select exists (select 1 from run_events) or exists (select 1 from messages) or exists (select 1 from memory_blocks)
    or exists (select 1 from passages) or exists (select 1 from file_contents) as found;

-- name: insert_encryption_key
-- Insert a key that seals content here; an existing proof stays.
insert into encryption_keys (id, proof, created_at) values ($1, $2, now_ms()) on conflict do nothing;

-- name: forget_encryption_keys
-- Delete all keys except this one (or all): they have sealed nothing that is left.
delete from encryption_keys where id is distinct from $1;

-- name: seals_of_events
-- The next events in key order. Their data is null unless (it starts with $3) equals $4.
select run_id, seq, id, case when (substr(data, 1, length($3::bytea)) = $3) = $4 then data end as data
  from run_events where (run_id, seq) > ($1, $2) order by run_id, seq limit $5;

-- name: swap_events
-- Replace the data of events, unless another transaction changed it.
update run_events e set data = s.new
  from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bytea[], $4::text::bytea[]) as s (run_id, seq, old, new)
 where e.run_id = s.run_id and e.seq = s.seq and e.data = s.old;

-- name: seals_of_messages
-- The next messages. Their text is null unless (it starts with $2, the sources with $3 or the parts with $4) equals $5.
select id, sources, parts,
       case when (left(text, length($2::text)) = $2) = $5
              or (sources <> '[]' and (left(sources, length($3::text)) = $3) = $5)
              or coalesce((left(parts, length($4::text)) = $4) = $5, false) then text end as text
  from messages where id > $1 order by id limit $6;

-- name: swap_messages
-- Replace the text, the sources and the parts of messages, unless another transaction changed them.
update messages m set text = s.new, sources = s.new_sources, parts = s.new_parts
  from unnest($1::text::uuid[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[], $6::text::text[],
              $7::text::text[]) as s (id, old, new, old_sources, new_sources, old_parts, new_parts)
 where m.id = s.id and m.text = s.old and m.sources = s.old_sources and m.parts is not distinct from s.old_parts;

-- name: seals_of_waits
-- The next waits. Their input is null unless (it starts with $2) equals $3.
select id, case when (substr(input, 1, length($2::bytea)) = $2) = $3 then input end as input
  from waits where id > $1 order by id limit $4;

-- name: swap_waits
-- Replace the input of waits, unless another transaction changed it.
update waits a set input = s.new
  from unnest($1::text::text[], $2::text::bytea[], $3::text::bytea[]) as s (id, old, new)
 where a.id = s.id and a.input = s.old;

-- name: seals_of_kept_events
-- The next kept events. Their data is null unless (it starts with $3) equals $4.
select owner, id, case when (substr(data, 1, length($3::bytea)) = $3) = $4 then data end as data
  from kept_events where (owner, id) > ($1, $2) order by owner, id limit $5;

-- name: swap_kept_events
-- Replace the data of kept events, unless another transaction changed it.
update kept_events e set data = s.new
  from unnest($1::text::text[], $2::text::text[], $3::text::bytea[], $4::text::bytea[]) as s (owner, id, old, new)
 where e.owner = s.owner and e.id = s.id and e.data = s.old;

-- name: seals_of_pushes
-- The next pushes. Their data is null unless (it starts with $3) equals $4.
select run_id, id, case when (substr(data, 1, length($3::bytea)) = $3) = $4 then data end as data
  from pushes where (run_id, id) > ($1, $2) order by run_id, id limit $5;

-- name: swap_pushes
-- Replace the data of pushes, unless another transaction changed it.
update pushes p set data = s.new
  from unnest($1::text::uuid[], $2::text::text[], $3::text::bytea[], $4::text::bytea[]) as s (run_id, id, old, new)
 where p.run_id = s.run_id and p.id = s.id and p.data = s.old;

-- name: seals_of_feedback
-- The next feedback. Its comment is null unless (it starts with $2) equals $3.
select run_id as id, case when (left(comment, length($2::text)) = $2) = $3 then comment end as comment
  from feedback where run_id > $1 order by run_id limit $4;

-- name: swap_feedback
-- Replace the comment of feedback, unless another transaction changed it.
update feedback f set comment = s.new from unnest($1::text::uuid[], $2::text::text[], $3::text::text[]) as s (id, old, new)
 where f.run_id = s.id and f.comment = s.old;

-- name: seals_of_runs
-- The next runs. Their error is null unless (it starts with $2) equals $3.
select id, case when (left(error, length($2::text)) = $2) = $3 then error end as error from runs where id > $1 order by id limit $4;

-- name: swap_runs
-- Replace the error of runs, unless another transaction changed it.
update runs r set error = s.new from unnest($1::text::uuid[], $2::text::text[], $3::text::text[]) as s (id, old, new)
 where r.id = s.id and r.error = s.old;

-- name: seals_of_checkpoints
-- The next checkpoints. Their data is null unless (it starts with $2) equals $3.
select run_id as id, case when (substr(data, 1, length($2::bytea)) = $2) = $3 then data end as data
  from checkpoints where run_id > $1 order by run_id limit $4;

-- name: swap_checkpoints
-- Replace the data of checkpoints, unless another transaction changed it.
update checkpoints c set data = s.new
  from unnest($1::text::uuid[], $2::text::bytea[], $3::text::bytea[]) as s (run_id, old, new)
 where c.run_id = s.run_id and c.data = s.old;

-- name: seals_of_blocks
-- The next memory blocks. Their content is null unless (it starts with $2) equals $3.
select id, agent, label, case when (left(content, length($2::text)) = $2) = $3 then content end as content
  from memory_blocks where id > $1 order by id limit $4;

-- name: swap_blocks
-- Replace the content of blocks, unless another transaction changed it.
update memory_blocks b set content = s.new from unnest($1::text::uuid[], $2::text::text[], $3::text::text[]) as s (id, old, new)
 where b.id = s.id and b.content = s.old;

-- name: seals_of_passages
-- The next passages. Their content is null unless (it starts with $2, or the tags with $3) equals $4.
select id, tags, case when (left(content, length($2::text)) = $2) = $4
                        or (tags <> '[]' and (left(tags, length($3::text)) = $3) = $4) then content end as content
  from passages where id > $1 order by id limit $5;

-- name: swap_passages
-- Replace the content and the tags of passages, unless another transaction changed them.
update passages p set content = s.new, tags = s.new_tags
  from unnest($1::text::uuid[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[])
       as s (id, old, new, old_tags, new_tags)
 where p.id = s.id and p.content = s.old and p.tags = s.old_tags;

-- name: seals_of_ledger
-- The next ledger messages. Their content is null unless (it starts with $2, or the tool input with $3) equals $4.
select id, run_id, tool_input,
       case when (left(content, length($2::text)) = $2) = $4
              or coalesce((left(tool_input, length($3::text)) = $3) = $4, false) then content end as content
  from run_messages where id > $1 order by id limit $5;

-- name: swap_ledger
-- Replace the content and the tool input of ledger messages, unless another transaction changed them.
update run_messages m set content = s.new, tool_input = s.new_input
  from unnest($1::text::uuid[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[])
       as s (id, old, new, old_input, new_input)
 where m.id = s.id and m.content = s.old and m.tool_input is not distinct from s.old_input;

-- name: seals_of_titles
-- The next threads. Their title is null unless (it starts with $2) equals $3.
select id, case when (left(title, length($2::text)) = $2) = $3 then title end as title
  from threads where id > $1 order by id limit $4;

-- name: swap_titles
-- Replace the title of threads, unless another transaction changed it.
update threads t set title = s.new from unnest($1::text::uuid[], $2::text::text[], $3::text::text[]) as s (id, old, new)
 where t.id = s.id and t.title = s.old;

-- name: seals_of_files
-- The next files. Their name is null unless (it starts with $2) equals $3.
select id, case when (left(name, length($2::text)) = $2) = $3 then name end as name from files where id > $1 order by id limit $4;

-- name: swap_files
-- Replace the name of files, unless another transaction changed it.
update files f set name = s.new from unnest($1::text::uuid[], $2::text::text[], $3::text::text[]) as s (id, old, new)
 where f.id = s.id and f.name = s.old;

-- name: seals_of_chunks
-- The next chunks of files. Their data is null unless (it starts with $3) equals $4.
select content_id, no, case when (substr(data, 1, length($3::bytea)) = $3) = $4 then data end as data
  from file_chunks where (content_id, no) > ($1, $2) order by content_id, no limit $5;

-- name: swap_chunks
-- Replace the data of chunks, unless another transaction changed it.
update file_chunks c set data = s.new
  from unnest($1::text::uuid[], $2::text::int[], $3::text::bytea[], $4::text::bytea[]) as s (content_id, no, old, new)
 where c.content_id = s.content_id and c.no = s.no and c.data = s.old;
