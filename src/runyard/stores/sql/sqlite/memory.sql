-- fragment: block
id, agent, label, content, is_shared, updated_at

-- fragment: passage
p.id, p.agent, p.content, p.tags, p.created_at, p.cause

-- name: read_blocks
-- What is in an agent's prompt: its own blocks, then those that are shared with it, by label.
select {block} from memory_blocks b where b.agent = ?1
    or (b.is_shared and b.id in (select l.block_id from shared_block_links l where l.agent = ?1))
 order by b.agent <> ?1, b.label, b.agent;

-- name: put_block
-- The one block of an agent under a label; whether it is shared stays where null is said.
insert into memory_blocks as b (id, agent, label, content, is_shared, updated_at)
values (?1, ?2, ?3, ?4, coalesce(?5, 0), ?6)
    on conflict (agent, label) do update set content = excluded.content, updated_at = excluded.updated_at,
       is_shared = coalesce(?5, b.is_shared)
returning {block};

-- name: drop_block
-- Forget a block.
delete from memory_blocks where agent = ?1 and label = ?2 returning id;

-- name: link_block
-- Let another agent read a shared block.
insert into shared_block_links (block_id, agent)
select b.id, ?3 from memory_blocks b where b.agent = ?1 and b.label = ?2 and b.is_shared
    on conflict (block_id, agent) do update set agent = excluded.agent
returning block_id;

-- name: unlink_block
-- No longer let another agent read a shared block.
delete from shared_block_links where agent = ?3
   and block_id in (select b.id from memory_blocks b where b.agent = ?1 and b.label = ?2);

-- name: put_passage
-- Put something away; not what the same call has put away before.
insert into passages (id, agent, content, tags, created_at, cause) values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict do nothing
returning id;

-- name: caused_passage
-- What a call has put away before.
select {passage} from passages p where p.cause = ?1;

-- name: list_passages
-- What an agent has put away, newest first.
select {passage} from passages p where p.agent = ?1 and (?2 is null or p.id < ?2) order by p.id desc limit ?3;

-- name: drop_passage
-- Forget a passage.
delete from passages where agent = ?1 and id = ?2 returning id;

-- name: find_passages
-- The passages of an agent that hold any of the words, best first.
select {passage} from passage_words w join passages p on p.rowid = w.rowid
 where w.passage_words match ?2 and p.agent = ?1 order by w.rank, p.id limit ?3;

-- name: index_passages
-- Make the index of words anew: words are in it under the number of their row, which a new file may change.
insert into passage_words (passage_words) values ('rebuild');
