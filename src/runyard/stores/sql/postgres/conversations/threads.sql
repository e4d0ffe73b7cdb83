-- fragment: thread
id, owner, kind, external_id, user_id, agent, head_run_id, created_at, forked_from, name, topic, is_private, metadata

-- fragment: message
m.id, m.thread_id, m.run_id, m.role, m.text, m.sources, m.created_at, m.sender, m.parent_id, m.parts, m.edited_at, m.deleted_at

-- name: insert_thread
-- Insert a thread.
insert into threads (id, owner, kind, external_id, user_id, agent, created_at, metadata)
values ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: fork_thread
-- Insert a thread that continues from a run of another thread.
insert into threads (id, owner, kind, external_id, user_id, agent, created_at, metadata, head_run_id, forked_from)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: change_thread
-- Replace the metadata of a chat.
update threads set metadata = $3 where owner = $1 and id = $2 and kind = 'chat' returning {thread};

-- name: get_named_thread
-- The thread of an owner with an external id, and the chat with an id.
select {thread} from threads where owner = $1 and external_id = $2
union all
select {thread} from threads where owner = $1 and id = $3::uuid and kind = 'chat';

-- name: count_forks
-- How many threads were forked from this one.
select count(*) as n from threads where forked_from = $1;

-- name: get_thread
-- One thread of an owner.
select {thread} from threads where owner = $1 and id = $2;

-- name: list_threads
-- An owner's chats, newest first.
select {thread} from threads where owner = $1 and kind = 'chat' and ($2::uuid is null or id < $2) order by id desc limit $3;

-- name: list_active_threads
-- An owner's chats, last activity first: the newer id of the thread and its newest run. Sorted without an index,
-- which every message would have to change.
select {thread} from threads where owner = $1 and kind = 'chat' and ($2::uuid is null or greatest(head_run_id, id) < $2)
 order by greatest(head_run_id, id) desc limit $3;

-- name: lock_thread
-- One thread of an owner, locked against new messages.
select {thread} from threads where owner = $1 and id = $2 for update;

-- name: count_live_runs
-- How many runs of a thread have not ended.
select count(*) as n from runs where thread_id = $1 and status in ('queued', 'running', 'waiting');

-- name: adopt_children
-- Put the child runs of a thread's runs into the thread, so that they are deleted with it.
update runs set thread_id = $1 where id in (
  with recursive below as (
    select c.id from runs p join runs c on c.parent_run_id = p.id where p.thread_id = $1
    union select c.id from below b join runs c on c.parent_run_id = b.id)
  select id from below);

-- name: delete_child_lanes
-- Delete the lanes of a thread's child runs.
delete from lanes where key in (select lane_key from runs where thread_id = $1 and parent_run_id is not null);

-- name: delete_thread_events
-- Delete the logs of a thread's runs.
delete from run_events where run_id in (select id from runs where thread_id = $1);

-- name: delete_thread_waits
-- Delete the waits of a thread's runs.
delete from waits where run_id in (select id from runs where thread_id = $1);

-- name: delete_thread_reactions
-- Delete the reactions to messages of a thread.
delete from reactions where message_id in (select id from messages where thread_id = $1);

-- name: delete_thread_members
-- Delete the members of a thread.
delete from thread_members where thread_id = $1;

-- name: delete_thread_sessions
-- Delete the agents' sessions in a conversation.
delete from agent_sessions where thread_id = $1;

-- name: delete_thread_feed
-- Delete the feed entries of a thread.
delete from feed where thread_id = $1;

-- name: delete_thread_runs
-- Delete the runs of a thread.
delete from runs where thread_id = $1;

-- name: delete_thread_messages
-- Delete the messages of a thread.
delete from messages where thread_id = $1;

-- name: delete_thread
-- Delete a thread.
delete from threads where owner = $1 and id = $2;

-- name: delete_lane
-- Delete the lane of a deleted thread.
delete from lanes where key = $1;

-- name: list_messages
-- All messages of a thread, in order.
select {message} from messages m where m.thread_id = $1 order by m.id;

-- name: get_messages
-- Messages by id.
select {message} from messages m where m.id = any($1::uuid[]);

-- name: set_title
-- Name a chat of an owner.
update threads set title = $3 where owner = $1 and id = $2 and kind = 'chat' returning id;

-- name: read_titles
-- The titles of threads that have one.
select id, title from threads where id = any($1::uuid[]) and title is not null;

-- name: first_messages
-- The first message of each of these threads.
select {message} from unnest($1::uuid[]) as t (id)
  cross join lateral (select * from messages f where f.thread_id = t.id order by f.id limit 1) m;

-- name: search_messages
-- Messages that have all the words, in an owner's chats and in the channels and DMs that the owner sees, newest first.
select {message} from messages m
  join threads t on t.id = m.thread_id
 where words_of(m.text) @@ to_tsquery('simple', $2) and left(m.text, 1) <> chr(64976)
   and m.deleted_at is null and ($3::uuid is null or m.id < $3)
   and (t.owner = $1 or (t.kind = 'channel' and not t.is_private)
        or exists (select 1 from thread_members v where v.thread_id = t.id and v.kind = 'user' and v.member = $1))
 order by m.id desc limit $4;

-- name: search_titles
-- The titles of an owner's chats that have all the words, newest chat first.
select id, title from threads
 where owner = $1 and kind = 'chat' and left(title, 1) <> chr(64976) and words_of(title) @@ to_tsquery('simple', $2)
 order by id desc limit $3;

-- name: index_messages
-- Rebuild the full-text index.
reindex index messages_words;

-- name: history
-- The messages of a run's ancestors by parent_id, oldest first.
with recursive line as (
  select p.id, p.trigger_message_id, p.parent_id, 1 as depth
    from runs r join runs p on p.id = r.parent_id where r.id = $1 and $2 > 0
  union all
  select p.id, p.trigger_message_id, p.parent_id, l.depth + 1
    from line l join runs p on p.id = l.parent_id where l.depth < $2
)
select {message} from line l
  join messages m on m.id = l.trigger_message_id or m.run_id = l.id
 order by l.depth desc, m.role desc, m.id;

-- name: insert_share
-- Store a link to a thread.
insert into shares (id, owner, thread_id, digest, upto, created_at, expires_at)
select $1, t.owner, t.id, $4, $5, now_ms(), now_ms() + $6::bigint from threads t where t.owner = $2 and t.id = $3 and t.kind = 'chat'
returning id, owner, thread_id, digest, upto, created_at, expires_at;

-- name: list_shares
-- The links to a thread that have not expired, newest first.
select id, owner, thread_id, digest, upto, created_at, expires_at from shares
 where owner = $1 and thread_id = $2 and expires_at > now_ms() order by id desc;

-- name: find_share
-- The link with this digest, unless it has expired.
select id, owner, thread_id, digest, upto, created_at, expires_at from shares where digest = $1 and expires_at > now_ms();

-- name: drop_share
-- Delete a link of an owner.
delete from shares where owner = $1 and thread_id = $2 and id = $3 returning id;

-- name: drop_expired_shares
-- Delete links that have expired.
delete from shares where expires_at <= now_ms();

-- name: find_thread_ids
-- The ids of an owner's chats that start or end like this, newest first.
select id from threads
 where owner = $1 and kind = 'chat' and (starts_with(id::text, $2::text) or right(id::text, length($2::text)) = $2::text)
 order by id desc limit $3;
