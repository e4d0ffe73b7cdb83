-- name: insert_feed
-- Insert feed entries, in the transaction of their cause.
insert into feed (kind, thread_id, message_id, run_id, actor, role, emoji, created_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, now_ms());

-- name: unnumbered_feed
-- The last number of the feed, and whether an entry has no number.
select coalesce((select last from feed_head), 0) as last, exists (select 1 from feed where no is null) as has_new;

-- name: feed_start
-- The number of the last deleted feed entry.
select coalesce((select dropped from feed_head), 0) as dropped;

-- name: lock_feed
-- Lock the head of the feed; one transaction at a time numbers entries.
insert into feed_head (one, last) values (1, 0) on conflict (one) do update set last = feed_head.last
returning last;

-- name: number_feed
-- Number new entries, in the order they were written.
update feed set no = n.no
  from (select id, ?1 + row_number() over (order by id) as no from feed where no is null order by id limit ?2) n
 where feed.id = n.id
returning feed.id;

-- name: move_feed_head
-- Set the last number of the feed.
update feed_head set last = ?1;

-- name: read_feed
-- A range of the feed, in order, with its messages, and whether the caller may see each entry.
select f.no, f.kind, f.message_id, f.run_id as of_run, f.actor, f.role as actor_role, f.emoji, f.created_at as happened_at,
       f.thread_id, t.kind as thread_kind,
       t.kind in ('channel', 'dm') and (t.owner = ?1 or (t.kind = 'channel' and not t.is_private)
        or exists (select 1 from thread_members v where v.thread_id = t.id and v.kind = 'user' and v.member = ?1)) as seen,
       m.id, m.run_id, m.role, m.text, m.sources, m.created_at, m.sender, m.parent_id, m.parts, m.edited_at, m.deleted_at
  from feed f join threads t on t.id = f.thread_id
  left join messages m on f.kind in ('message_created', 'message_updated', 'message_deleted') and m.id = f.message_id
 where f.no > ?2 order by f.no limit ?3;
