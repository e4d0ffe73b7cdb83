-- fragment: block
id, agent, owner, label, content, is_shared, updated_at

-- fragment: passage
p.id, p.agent, p.owner, p.content, p.tags, p.created_at, p.cause

-- name: read_blocks
-- An agent's own blocks for an owner, then the blocks that are shared with it for this owner, by label. The blocks
-- of a shared agent belong to no owner and are read for every owner.
select {block} from memory_blocks b where (b.agent = ?1 and b.owner = ?2)
    or (b.is_shared and b.owner in (?2, '')
        and b.id in (select l.block_id from shared_block_links l where l.agent = ?1 and l.owner = ?2))
 order by b.agent <> ?1, b.label, b.agent;

-- name: put_block
-- Insert or replace an agent's block for an owner under a label; null keeps the shared flag.
insert into memory_blocks as b (id, agent, owner, label, content, is_shared, updated_at)
values (?1, ?2, ?3, ?4, ?5, coalesce(?6, 0), ?7)
    on conflict (agent, owner, label) do update set content = excluded.content, updated_at = excluded.updated_at,
       is_shared = coalesce(?6, b.is_shared)
returning {block};

-- name: drop_block
-- Delete a block.
delete from memory_blocks where agent = ?1 and owner = ?2 and label = ?3 returning id;

-- name: link_block
-- Let another agent read a shared block when it works for an owner.
insert into shared_block_links (block_id, agent, owner)
select b.id, ?4, ?5 from memory_blocks b where b.agent = ?1 and b.owner = ?2 and b.label = ?3 and b.is_shared
    on conflict (block_id, agent, owner) do update set agent = excluded.agent
returning block_id;

-- name: unlink_block
-- Remove the link of another agent to a shared block.
delete from shared_block_links where agent = ?4 and owner = ?5
   and block_id in (select b.id from memory_blocks b where b.agent = ?1 and b.owner = ?2 and b.label = ?3);

-- name: put_passage
-- Insert a passage, unless the same tool call stored it before.
insert into passages (id, agent, owner, content, tags, created_at, cause) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    on conflict do nothing
returning id;

-- name: caused_passage
-- The passage that a tool call stored before.
select {passage} from passages p where p.cause = ?1;

-- name: list_passages
-- An agent's passages for an owner, newest first.
select {passage} from passages p where p.agent = ?1 and p.owner = ?2 and (?3 is null or p.id < ?3) order by p.id desc limit ?4;

-- name: drop_passage
-- Delete a passage.
delete from passages where agent = ?1 and owner = ?2 and id = ?3 returning id;

-- name: find_passages
-- Passages of an agent for an owner that contain a text, then those that contain any of its words, best first.
select {passage} from passages p
  left join (select rowid, rank from passage_words where passage_words match ?3) w on w.rowid = p.rowid
 where p.agent = ?1 and p.owner = ?2 and (w.rowid is not null or instr(lowered(p.content), lowered(?5)) > 0)
 order by instr(lowered(p.content), lowered(?5)) > 0 desc, w.rank, p.id limit ?4;

-- name: index_passages
-- Rebuild the full-text index: it refers to row numbers, which a vacuum may change.
insert into passage_words (passage_words) values ('rebuild');
