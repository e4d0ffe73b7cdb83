-- fragment: conversation
t.id, t.owner, t.kind, t.external_id, t.user_id, t.agent, t.head_run_id, t.created_at, t.forked_from, t.name, t.topic, t.is_private, t.metadata

-- name: insert_conversation
-- Insert a channel or a DM, unless its owner has one of that name.
insert into threads (id, owner, kind, name, topic, is_private, created_at) values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (owner, kind, name) where name is not null do nothing
returning id;

-- name: get_named_conversation
-- A channel or a DM of an owner by its name.
select {thread} from threads where owner = $1 and kind = $2 and name = $3;

-- name: lock_conversation
-- A channel or a DM, locked so that it is not deleted during a post.
select {thread} from threads where id = $1 and kind in ('channel', 'dm') for key share;

-- name: read_conversation
-- A channel or a DM.
select {thread} from threads where id = $1 and kind in ('channel', 'dm');

-- name: list_conversations
-- The channels or DMs that a caller sees, newest first.
select {conversation} from threads t
 where t.kind = $2 and ($3::uuid is null or t.id < $3) and (t.owner = $1 or (t.kind = 'channel' and not t.is_private)
        or exists (select 1 from thread_members v where v.thread_id = t.id and v.kind = 'user' and v.member = $1))
 order by t.id desc limit $4;

-- name: list_members
-- The members of conversations, in the order they joined.
select thread_id, member, kind from thread_members where thread_id = any($1::uuid[]) order by thread_id, no;

-- name: add_members
-- Add members to a conversation; present members keep their position.
insert into thread_members (thread_id, member, kind, no)
select p.thread_id, p.member, p.kind,
       p.no + coalesce((select max(no) from thread_members m where m.thread_id = p.thread_id), 0)
  from unnest($1::text::uuid[], $2::text::text[], $3::text::text[]) with ordinality as p (thread_id, member, kind, no)
    on conflict do nothing;

-- name: remove_member
-- Remove a member from a conversation.
delete from thread_members where thread_id = $1 and member = $2 and kind = $3 returning member;

-- name: change_channel
-- Change the name, the topic or the privacy of a channel; null keeps the present value.
update threads set name = coalesce($3, name), topic = coalesce($4, topic), is_private = coalesce($5, is_private)
 where owner = $1 and id = $2 and kind = 'channel'
returning {thread};

-- name: insert_channel_message
-- Insert a message in a conversation.
insert into messages (id, thread_id, run_id, role, text, sources, created_at, parts, sender, parent_id, cause)
select * from unnest($1::text::uuid[], $2::text::uuid[], $3::text::uuid[], $4::text::text[], $5::text::text[], $6::text::text[], $7::text::bigint[],
                     $8::text::text[], $9::text::text[], $10::text::uuid[], $11::text::text[]);

-- name: caused_message
-- The message that a tool call posted before.
select {message} from messages m where m.cause = $1;

-- name: find_message
-- A message of a conversation.
select {message} from messages m join threads t on t.id = m.thread_id where m.id = $1 and t.kind in ('channel', 'dm');

-- name: reply_participants
-- The senders of a message and of its replies, in order.
select m.sender, m.role from messages m where m.id = $1 or m.parent_id = $1 order by m.parent_id is not null, m.id;

-- name: recent_messages
-- The newest messages of a conversation, or the newest replies to one of them, below an id.
select {message} from messages m
 where m.thread_id = $1 and ($2::uuid is null or m.id < $2) and ($4::uuid is null or m.parent_id = $4)
 order by m.id desc limit $3;

-- name: change_message
-- Change the text of a message.
update messages set text = $2, edited_at = now_ms() where id = $1 and deleted_at is null returning edited_at;

-- name: delete_message
-- Replace the text of a message that is deleted; the row stays, for its replies.
update messages set text = $2, sources = '[]', parts = null, deleted_at = now_ms() where id = $1 and deleted_at is null returning id;

-- name: delete_reactions
-- Delete the reactions to a message.
delete from reactions where message_id = $1;

-- name: insert_reaction
-- Insert a reaction, unless it exists.
insert into reactions (message_id, sender, role, emoji, created_at) values ($1, $2, $3, $4, $5)
    on conflict do nothing
returning message_id;

-- name: remove_reaction
-- Delete a reaction.
delete from reactions where message_id = $1 and sender = $2 and role = $3 and emoji = $4 returning message_id;

-- name: list_reactions
-- The reactions to these messages, in order.
select message_id, sender, role, emoji, created_at from reactions
 where message_id = any($1::uuid[]) order by created_at, sender, emoji;

-- name: mark_read
-- Move the read position of a person in a conversation forward, never back.
insert into read_positions (thread_id, reader, message_id) values ($1, $2, $3)
    on conflict (thread_id, reader) do update set message_id = excluded.message_id
 where excluded.message_id > read_positions.message_id;

-- name: list_unread
-- The newest conversations that a person sees, with the read position and the number of later messages of other senders.
select t.id, t.kind, p.message_id as read_id,
       (select count(*) from (select 1 from messages m
         where m.thread_id = t.id and m.id > coalesce(p.message_id, '00000000-0000-0000-0000-000000000000') and m.deleted_at is null
           and not (m.role = 'user' and m.sender = $1) limit $3) as later) as unread
  from threads t left join read_positions p on p.thread_id = t.id and p.reader = $1
 where t.kind in ('channel', 'dm') and (t.owner = $1 or (t.kind = 'channel' and not t.is_private)
        or exists (select 1 from thread_members v where v.thread_id = t.id and v.kind = 'user' and v.member = $1))
 order by t.id desc limit $2;
