-- The office: conversations between people and agents, turns in a group, memory, and the feed.

alter table threads add column name text;
alter table threads add column topic text;
alter table threads add column is_private integer not null default 0;
alter table messages add column sender text;
alter table messages add column parent_id text;
alter table messages add column cause text;
alter table runs add column held integer not null default 0;
alter table runs add column after_run text;
alter table runs add column pause_ms integer;
alter table runs add column due_at integer;
alter table runs add column depth integer not null default 0;
drop index runs_queue;
create unique index runs_queue on runs (lane_key, pos) where status = 'queued' and not held;
create unique index threads_name on threads (owner, kind, name) where name is not null;
create unique index messages_cause on messages (cause) where cause is not null;
create index messages_parent on messages (parent_id) where parent_id is not null;
create index runs_due on runs (due_at) where held and status = 'queued';
create index runs_after on runs (after_run) where held and status = 'queued';
create index runs_agent_status on runs (agent, status) where face = 'channels';
create index runs_status_age on runs (status, created_at) where face = 'channels';

-- Who answers. Agents that code declares have a row too (`owner` is null), so that what hangs on them has something to hang
-- on; what they are made of stays in the code. Deleting is `is_active = false`.
create table agents (
  id            text primary key,
  owner         text,
  display_name  text not null,
  title         text not null default '',
  avatar_color  text,
  persona       text not null default '',
  model         text,
  max_turns     integer not null default 5,
  max_usd       real not null default 0.1,
  session_id    text,
  is_active     integer not null default 1,
  created_at    integer not null,
  updated_at    integer not null
) strict;

-- Who is in a channel or a DM, in the order they joined.
create table thread_members (
  thread_id  text not null,
  member     text not null,
  kind       text not null,
  no         integer not null,
  primary key (thread_id, kind, member)
) strict, without rowid;
create index thread_members_of on thread_members (kind, member, thread_id);

create table reactions (
  message_id  text not null,
  sender      text not null,
  role        text not null,
  emoji       text not null,
  created_at  integer not null,
  primary key (message_id, emoji, role, sender)
) strict, without rowid;

-- Core memory: in every prompt of its agent, and of those that are linked to it if it is shared.
create table memory_blocks (
  id          text primary key,
  agent       text not null references agents (id) on delete cascade,
  label       text not null,
  content     text not null,
  is_shared   integer not null default 0,
  updated_at  integer not null
) strict;
create unique index memory_blocks_label on memory_blocks (agent, label);

create table shared_block_links (
  block_id  text not null references memory_blocks (id) on delete cascade,
  agent     text not null references agents (id) on delete cascade,
  primary key (block_id, agent)
) strict, without rowid;
create index shared_block_links_agent on shared_block_links (agent);

-- What agents put away, to be found by its words.
create table passages (
  id          text    primary key,
  agent       text    not null references agents (id) on delete cascade,
  content     text    not null,
  tags        text    not null default '[]',
  created_at  integer not null,
  cause       text
) strict;
create unique index passages_cause on passages (cause) where cause is not null;
create index passages_agent on passages (agent, id);
create virtual table passage_words using fts5 (content, tags, content = 'passages', tokenize = 'porter unicode61');
create trigger passages_in after insert on passages begin
  insert into passage_words (rowid, content, tags) values (new.rowid, new.content, new.tags);
end;
create trigger passages_out after delete on passages begin
  insert into passage_words (passage_words, rowid, content, tags) values ('delete', old.rowid, old.content, old.tags);
end;

-- What happened in conversations, for those who watch them. A row is written with its cause, in the same transaction, and
-- gets its number afterwards, from one writer at a time: so numbers become visible in order, and who has seen n has seen
-- all before it. `feed_head` is the last number given out, and the last that was
-- dropped.
create table feed (
  id          integer primary key,
  no          integer,
  kind        text    not null,
  thread_id   text    not null,
  message_id  text,
  run_id      text,
  actor       text    not null,
  role        text    not null,
  emoji       text,
  created_at  integer not null
) strict;
create unique index feed_no on feed (no) where no is not null;
create index feed_new on feed (id) where no is null;
create index feed_thread on feed (thread_id);
create table feed_head (
  one      integer primary key default 1 check (one = 1),
  last     integer not null,
  dropped  integer not null default 0
) strict;
