-- name: keys_in_use
-- The keys that have sealed something here.
select id, proof from encryption_keys order by id;

-- name: has_content
-- Whether there is content: what was said, done or remembered.
select exists (select 1 from run_events) or exists (select 1 from messages) or exists (select 1 from memory_blocks)
    or exists (select 1 from passages) as found;

-- name: insert_encryption_key
-- A key that will seal something here; the first proof of it stays.
insert into encryption_keys (id, proof, created_at) values (?1, ?2, now_ms()) on conflict do nothing;

-- name: forget_encryption_keys
-- Nothing is left that any other key than this one (or any at all) has sealed.
delete from encryption_keys where id is not ?1;

-- name: seals_of_events
-- The next events in the order of keys; with their data, if that begins with ?3 or (?4 false) does not.
select run_id, seq, id, case when (substr(data, 1, length(?3)) = ?3) = ?4 then data end as data
  from run_events where (run_id, seq) > (?1, ?2) order by run_id, seq limit ?5;

-- name: swap_events
-- Other bytes for the same content, unless somebody changed them meanwhile.
update run_events set data = ?4 where run_id = ?1 and seq = ?2 and data = ?3;

-- name: seals_of_messages
-- The next messages; with what they say, if the text begins with ?2 or the sources with ?3 or (?4 false) do not.
select id, sources, case when (substr(text, 1, length(?2)) = ?2) = ?4
                           or (sources <> '[]' and (substr(sources, 1, length(?3)) = ?3) = ?4) then text end as text
  from messages where id > ?1 order by id limit ?5;

-- name: swap_messages
-- Another text for the same content, unless somebody changed it meanwhile.
update messages set text = ?3, sources = ?5 where id = ?1 and text = ?2 and sources = ?4;

-- name: seals_of_approvals
-- The next approvals; with their input, if that begins with ?2 or (?3 false) does not.
select id, case when (substr(input, 1, length(?2)) = ?2) = ?3 then input end as input
  from approvals where id > ?1 order by id limit ?4;

-- name: swap_approvals
-- Other bytes for the same content, unless somebody changed them meanwhile.
update approvals set input = ?3 where id = ?1 and input = ?2;

-- name: seals_of_runs
-- The next runs; with their error, if that begins with ?2 or (?3 false) does not.
select id, case when (substr(error, 1, length(?2)) = ?2) = ?3 then error end as error from runs where id > ?1 order by id limit ?4;

-- name: swap_runs
-- Another text for the same content, unless somebody changed it meanwhile.
update runs set error = ?3 where id = ?1 and error = ?2;

-- name: seals_of_checkpoints
-- The next checkpoints; with their data, if that begins with ?2 or (?3 false) does not.
select run_id as id, case when (substr(data, 1, length(?2)) = ?2) = ?3 then data end as data
  from checkpoints where run_id > ?1 order by run_id limit ?4;

-- name: swap_checkpoints
-- Other bytes for the same content, unless somebody changed them meanwhile.
update checkpoints set data = ?3 where run_id = ?1 and data = ?2;

-- name: seals_of_blocks
-- The next blocks of memory; with their content, if that begins with ?2 or (?3 false) does not.
select id, agent, label, case when (substr(content, 1, length(?2)) = ?2) = ?3 then content end as content
  from memory_blocks where id > ?1 order by id limit ?4;

-- name: swap_blocks
-- Another text for the same content, unless somebody changed it meanwhile.
update memory_blocks set content = ?3 where id = ?1 and content = ?2;

-- name: seals_of_passages
-- The next passages; with what they say, if the content begins with ?2 or the tags with ?3 or (?4 false) do not.
select id, tags, case when (substr(content, 1, length(?2)) = ?2) = ?4
                        or (tags <> '[]' and (substr(tags, 1, length(?3)) = ?3) = ?4) then content end as content
  from passages where id > ?1 order by id limit ?5;

-- name: swap_passages
-- Another text for the same content.
update passages set content = ?3, tags = ?5 where id = ?1 and content = ?2 and tags = ?4;

-- name: seals_of_ledger
-- The next ledger messages. Their content is null unless it starts with ?2, or their tool input with ?3, equals ?4.
select id, run_id, tool_input,
       case when (substr(content, 1, length(?2)) = ?2) = ?4
              or coalesce((substr(tool_input, 1, length(?3)) = ?3) = ?4, false) then content end as content
  from run_messages where id > ?1 order by id limit ?5;

-- name: swap_ledger
-- Replace the content and the input of a tool, unless another transaction changed them.
update run_messages set content = ?3, tool_input = ?5 where id = ?1 and content = ?2 and tool_input is ?4;
