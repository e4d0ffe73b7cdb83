-- The office: conversations between people and agents, turns in a group, memory, and the feed.

alter table threads add column name text;
alter table threads add column topic text;
alter table threads add column is_private boolean not null default false;
alter table messages add column sender text;
alter table messages add column parent_id uuid;
alter table messages add column cause text;
alter table runs add column held boolean not null default false;
alter table runs add column after_run uuid;
alter table runs add column pause_ms integer;
alter table runs add column due_at bigint;
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
  max_usd       double precision not null default 0.1,
  session_id    text,
  is_active     boolean not null default true,
  created_at    bigint not null,
  updated_at    bigint not null
);

-- Who is in a channel or a DM, in the order they joined.
create table thread_members (
  thread_id  uuid not null,
  member     text not null,
  kind       text not null,
  no         bigint not null,
  primary key (thread_id, kind, member)
);
create index thread_members_of on thread_members (kind, member, thread_id);

create table reactions (
  message_id  uuid not null,
  sender      text not null,
  role        text not null,
  emoji       text not null,
  created_at  bigint not null,
  primary key (message_id, emoji, role, sender)
);

-- Core memory: in every prompt of its agent, and of those that are linked to it if it is shared.
create table memory_blocks (
  id          uuid primary key,
  agent       text not null references agents (id) on delete cascade,
  label       text not null,
  content     text not null,
  is_shared   boolean not null default false,
  updated_at  bigint not null
);
create unique index memory_blocks_label on memory_blocks (agent, label);

create table shared_block_links (
  block_id  uuid not null references memory_blocks (id) on delete cascade,
  agent     text not null references agents (id) on delete cascade,
  primary key (block_id, agent)
);
create index shared_block_links_agent on shared_block_links (agent);

-- What agents put away, to be found by its words.
create table passages (
  id          uuid   primary key,
  agent       text   not null references agents (id) on delete cascade,
  content     text   not null,
  tags        text   not null default '[]',
  created_at  bigint not null,
  cause       text,
  words       tsvector not null generated always as (to_tsvector('english', content || ' ' || tags)) stored
);
create unique index passages_cause on passages (cause) where cause is not null;
create index passages_agent on passages (agent, id);
create index passages_words on passages using gin (words);

-- What happened in conversations, for those who watch them. A row is written with its cause, in the same transaction, and
-- gets its number afterwards, from one writer at a time: so numbers become visible in order, and who has seen n has seen
-- all before it. `feed_head` is the last number given out (and the lock of that
-- writer), and the last that was dropped.
create table feed (
  id          bigint generated always as identity primary key,
  no          bigint,
  kind        text   not null,
  thread_id   uuid   not null,
  message_id  uuid,
  run_id      uuid,
  actor       text   not null,
  role        text   not null,
  emoji       text,
  created_at  bigint not null
);
create unique index feed_no on feed (no) where no is not null;
create index feed_new on feed (id) where no is null;
create index feed_thread on feed (thread_id);
create table feed_head (
  one      boolean primary key default true check (one),
  last     bigint  not null,
  dropped  bigint  not null default 0
);
