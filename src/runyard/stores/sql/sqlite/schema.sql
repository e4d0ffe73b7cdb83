-- The whole schema on SQLite (3.38 or later). Migrations add up to exactly this; a test compares the two.
-- Times are milliseconds since 1970; the connection defines the function now_ms(). One connection writes.

create table threads (
  id           text    primary key,
  owner        text    not null,
  kind         text    not null default 'chat',
  external_id  text,
  user_id      text,
  agent        text,
  head_run_id  text,
  created_at   integer not null,
  forked_from  text,
  name         text,  -- of a channel; for a DM, its participants
  topic        text,
  is_private   integer not null default 0,
  metadata     text,  -- values of the client, as JSON
  title        text  -- null until a person names a chat
) strict, without rowid;
create unique index threads_external on threads (owner, external_id) where external_id is not null;
create index threads_owner on threads (owner, id);
create index threads_forks on threads (forked_from) where forked_from is not null;
create unique index threads_name on threads (owner, kind, name) where name is not null;

create table messages (
  id          text    primary key,
  thread_id   text    not null,
  run_id      text,
  role        text    not null,
  text        text    not null,
  sources     text    not null default '[]',
  created_at  integer not null,
  sender      text,
  parent_id   text,
  cause       text,  -- the tool call that posted it, `run_id:call_id`
  parts       text,  -- the JSON of its content parts; null for plain text
  edited_at   integer,
  deleted_at  integer  -- its text is replaced then; the row stays for its replies
) strict;
create index messages_thread on messages (thread_id, id);
create index messages_run on messages (run_id);
create unique index messages_cause on messages (cause) where cause is not null;
create index messages_parent on messages (parent_id) where parent_id is not null;

-- One narrow row per lane.
create table lanes (
  key         text    primary key,
  next_pos    integer not null default 1,
  runnable    integer not null default 0 check (runnable >= 0),
  active_run  text,
  ready_at    integer not null default 0,
  suspect     integer not null default 0
) strict, without rowid;
create index lanes_ready on lanes (suspect, ready_at, key) where active_run is null and runnable > 0;

create table runs (
  id                   text    primary key,
  external_id          text,
  owner                text    not null,
  face                 text    not null,
  lane_key             text    not null,
  pos                  integer not null,
  agent                text    not null,
  agent_version        text,
  thread_id            text,
  trigger_message_id   text,
  parent_id            text,
  retry_of             text,
  superseded_by        text,
  status               text    not null default 'queued',
  stop_reason          text,
  error_code           text,
  error                text,
  usage                text,
  fence                integer not null default 0,
  last_seq             integer not null default 0,
  last_batch           integer not null default 0,
  attempts             integer not null default 0,
  resume_why           text,
  worker_id            text,
  asked                integer not null default 0,
  cancel_requested_at  integer,
  cancel_deadline      integer,
  created_at           integer not null,
  started_at           integer,
  finished_at          integer,
  state                text    not null default 'started',  -- only the outbox changes it
  detach_deadline      integer,  -- its client disconnected: canceled then, unless a client reconnects
  checkpoint_at        integer,
  held                 integer not null default 0,  -- waits for its turn: not runnable, whatever its status
  after_run            text,  -- the run whose end (or park) it waits for
  pause_ms             integer,  -- the pause after that
  due_at               integer,  -- when it may run
  depth                integer not null default 0,  -- in the chain of runs that a person's message started
  parent_run_id        text,  -- the run that waits for this one
  has_client_tools     integer not null default 0,  -- its first event names tools of the client
  unread               integer not null default 0,  -- messages for it that its agent has not taken
  first_token_ms       integer  -- from its creation to the first token, if it had one before its first pause
) strict;
create unique index runs_external on runs (owner, external_id) where external_id is not null;
create unique index runs_queue on runs (lane_key, pos) where status = 'queued' and not held;
create index runs_queued_of on runs (owner) where status = 'queued';
create unique index runs_one_running on runs (lane_key) where status = 'running';
create index runs_worker on runs (worker_id) where status = 'running';
create index runs_cancel_due on runs (cancel_deadline) where status = 'running' and cancel_deadline is not null;
create index runs_owner on runs (owner, id);
create index runs_owner_status on runs (owner, status, id);
create index runs_owner_ended on runs (owner, finished_at, id) where finished_at is not null;
create index runs_thread on runs (thread_id, id);
create index runs_thread_waiting on runs (thread_id, id) where status = 'waiting';
create index runs_detach_due on runs (detach_deadline)
  where detach_deadline is not null and status in ('queued', 'running');
create index runs_unsaved on runs (finished_at)
  where face = 'chats' and finished_at is not null and checkpoint_at is null;
create index runs_due on runs (due_at) where held and status = 'queued';
create index runs_after on runs (after_run) where held and status = 'queued';
create index runs_children on runs (parent_run_id) where parent_run_id is not null;
create index runs_children_alive on runs (parent_run_id)
  where parent_run_id is not null and status in ('queued', 'running', 'waiting');
create index runs_agent_status on runs (agent, status) where face = 'channels';
create index runs_status_age on runs (status, created_at) where face = 'channels';

-- The log. The key keeps a run's events together and in order.
create table run_events (
  run_id  text    not null,
  seq     integer not null,
  id      text    not null,
  ts      integer not null,
  type    text    not null,
  v       integer not null default 1,
  source  text    not null,
  name    text,
  fn      text,
  fence   integer not null,
  data    blob    not null,
  primary key (run_id, seq)
) strict, without rowid;
create unique index run_events_one_end on run_events (run_id) where type = 'run.finished';

-- The publication cursor of a run: every event below next_seq is published. `open`: there may be more to publish, so the
-- poll reads it. The outbox closes a queued, waiting or ended run once all its events are published. `turn` rises whenever
-- a transaction opens it again, so that a publisher with an older turn does not close it.
create table run_outbox (
  run_id      text    primary key,
  next_seq    integer not null default 1,
  open        integer not null default 1,
  turn        integer not null default 0,
  updated_at  integer not null,
  dated       integer not null default 0  -- the publication time of its events is stored
) strict, without rowid;
create index run_outbox_open on run_outbox (run_id) where open;

-- Publication times of the events of plans: all events up to `upto` that no earlier row covers. A row never changes.
create table publications (
  run_id        text    not null references run_outbox (run_id) on delete cascade,
  upto          integer not null,
  published_at  integer not null,
  primary key (run_id, upto)
) strict, without rowid;

-- The events of plans with their publication times, null until then.
create view run_publication as
  select e.run_id, e.seq, e.id, e.ts, e.type, e.v, e.source, e.name, e.fn,
         (select p.published_at from publications p where p.run_id = e.run_id and p.upto >= e.seq
           order by p.upto limit 1) as published_at,
         e.ts as created_at
    from run_events e join run_outbox o on o.run_id = e.run_id where o.dated;

-- The runs of plans. `v` is the version of this layout. A run changes with its last event and with its publication.
create view plan_runs as
  select coalesce(r.external_id, r.id) as id, r.id as server_run_id, r.owner, r.state, r.created_at as started_at,
         case when r.state <> 'started' then r.finished_at end as finished_at, r.last_seq, 1 as v, r.created_at,
         max(e.ts, o.updated_at) as updated_at
    from runs r join run_outbox o on o.run_id = r.id join run_events e on e.run_id = r.id and e.seq = r.last_seq
   where r.face = 'plans';

-- Waits: what runs wait for. `target` names the run or the event that answers a wait.
create table waits (
  id           text    primary key,
  run_id       text    not null,
  call_id      text    not null,
  kind         text    not null,
  name         text    not null,
  input        blob    not null,
  state        text    not null default 'pending',
  answered_by  text,
  created_at   integer not null,
  answered_at  integer,
  expires_at   integer,
  target       text
) strict;
create index waits_run on waits (run_id);
-- What a person or a client answers.
create index waits_pending on waits (created_at, id)
  where state = 'pending' and kind in ('tool', 'unknown_outcome', 'confirmation', 'question', 'client_tool');
create index waits_expiry on waits (expires_at) where state = 'pending' and expires_at is not null;
create index waits_target on waits (target) where state = 'pending' and target is not null;

-- Messages for runs that were under way. `state`: new, taken by the run's agent, or left: it started a new run, with
-- `next_run_id` and the first event `id`, `ts`, `data`.
create table steered_messages (
  message_id        text    primary key,
  run_id            text    not null,
  seq               integer not null,
  state             text    not null default 'new',
  next_run_id       text    not null,
  face              text    not null,
  agent             text    not null,
  id                text    not null,
  ts                integer not null,
  data              blob    not null,
  has_client_tools  integer not null,
  created_at        integer not null
) strict;
create index steered_messages_run on steered_messages (run_id, seq);
create unique index steered_messages_next on steered_messages (next_run_id);

-- Events that machines delivered. One that no run waited for is kept for a while. `taken_at`: a run has got it.
create table kept_events (
  owner       text    not null,
  id          text    not null,
  name        text    not null,
  target      text    not null,
  data        blob    not null,
  created_at  integer not null,
  expires_at  integer not null,
  taken_at    integer,
  primary key (owner, id)
) strict, without rowid;
create index kept_events_target on kept_events (target, created_at) where taken_at is null;
create index kept_events_expiry on kept_events (expires_at);

-- Checkpoints: copies of ended runs in the format of a face. Derived from the log.
create table checkpoints (
  run_id     text    primary key,
  thread_id  text    not null,
  data       blob    not null,
  saved_at   integer not null
) strict;
create index checkpoints_thread on checkpoints (thread_id, run_id);

-- Snapshots: states of runs from which a reader continues instead of folding the whole log. Derived from the log.
create table run_snapshots (
  run_id    text not null references runs (id) on delete cascade,
  kind      text not null,
  seq       integer not null,
  data      blob not null,
  saved_at  integer not null,
  primary key (run_id, kind, seq)
) strict;

-- The encryption keys that sealed content in this database, each with a sealed value as a proof.
create table encryption_keys (
  id          text    primary key,
  proof       blob    not null,
  created_at  integer not null
) strict, without rowid;

-- Tombstones of deleted runs, stored for a limited time.
create table dropped_runs (
  id           text    primary key,
  owner        text    not null,
  external_id  text,
  agent        text    not null,
  status       text    not null,
  stop_reason  text,
  error_code   text,
  last_seq     integer not null,
  created_at   integer not null,
  finished_at  integer not null,
  dropped_at   integer not null,
  has_log      integer not null
) strict, without rowid;
create index dropped_runs_age on dropped_runs (dropped_at);
create index dropped_runs_external on dropped_runs (owner, external_id) where external_id is not null;

create table workers (
  id           text    primary key,
  label        text    not null,
  lease_until  integer not null,
  started_at   integer not null
) strict;
create index workers_lease on workers (lease_until);

-- API keys. Only a digest of the secret is stored; `last_used_at` is coarse.
create table api_keys (
  id            text    primary key,
  owner         text    not null,
  digest        text    not null,
  scopes        text    not null,
  label         text    not null,
  created_at    integer not null,
  expires_at    integer,
  last_used_at  integer,
  revoked_at    integer
) strict;
create index api_keys_age on api_keys (created_at, id);

create table idempotency_keys (
  scope       text    not null,
  key         text    not null,
  digest      text    not null,
  result      text    not null,
  created_at  integer not null,
  primary key (scope, key)
) strict, without rowid;
create index idempotency_keys_age on idempotency_keys (created_at);

create virtual table documents using fts5 (
  collection unindexed, id unindexed, title, text, tokenize = 'porter unicode61'
);

-- Agents. Agents that code declares have a row too (`owner` is null), because other rows refer to it; their definition
-- stays in the code. Deleting sets `is_active = false`.
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
  is_active     integer not null default 1,
  created_at    integer not null,
  updated_at    integer not null
) strict;

-- The session that an agent's next run in a conversation resumes, for kinds of agents with sessions.
create table agent_sessions (
  agent       text not null references agents (id) on delete cascade,
  thread_id   text not null,
  session_id  text not null,
  primary key (agent, thread_id)
) strict, without rowid;
create index agent_sessions_thread on agent_sessions (thread_id);

-- The members of channels and DMs, in the order they joined.
create table thread_members (
  thread_id  text not null,
  member     text not null,
  kind       text not null,
  no         integer not null,
  primary key (thread_id, kind, member)
) strict, without rowid;
create index thread_members_of on thread_members (kind, member, thread_id);

-- How far people have read: up to which message of a conversation.
create table read_positions (
  thread_id   text not null references threads (id) on delete cascade,
  reader      text not null,
  message_id  text not null,
  primary key (thread_id, reader)
) strict, without rowid;

create table reactions (
  message_id  text not null,
  sender      text not null,
  role        text not null,
  emoji       text not null,
  created_at  integer not null,
  primary key (message_id, emoji, role, sender)
) strict, without rowid;

-- Core memory: in every prompt of its agent for its owner and, if it is shared, of the agents that are linked to it. `owner`
-- is '' for the memory of an agent that is declared as shared.
create table memory_blocks (
  id          text primary key,
  agent       text not null references agents (id) on delete cascade,
  label       text not null,
  content     text not null,
  is_shared   integer not null default 0,
  updated_at  integer not null,
  owner       text not null default ''
) strict;
create unique index memory_blocks_label on memory_blocks (agent, owner, label);

create table shared_block_links (
  block_id  text not null references memory_blocks (id) on delete cascade,
  agent     text not null references agents (id) on delete cascade,
  owner     text not null default '',
  primary key (block_id, agent, owner)
) strict, without rowid;
create index shared_block_links_agent on shared_block_links (agent, owner);

-- Passages: texts that agents store and search.
create table passages (
  id          text    primary key,
  agent       text    not null references agents (id) on delete cascade,
  content     text    not null,
  tags        text    not null default '[]',
  created_at  integer not null,
  cause       text,
  owner       text    not null default ''
) strict;
create unique index passages_cause on passages (cause) where cause is not null;
create index passages_agent on passages (agent, owner, id);
create virtual table passage_words using fts5 (content, tags, content = 'passages', tokenize = 'porter unicode61');
create trigger passages_in after insert on passages begin
  insert into passage_words (rowid, content, tags) values (new.rowid, new.content, new.tags);
end;
create trigger passages_out after delete on passages begin
  insert into passage_words (passage_words, rowid, content, tags) values ('delete', old.rowid, old.content, old.tags);
end;
create trigger passages_changed after update of content, tags on passages begin
  insert into passage_words (passage_words, rowid, content, tags) values ('delete', old.rowid, old.content, old.tags);
  insert into passage_words (rowid, content, tags) values (new.rowid, new.content, new.tags);
end;

-- The feed of conversations. A row is written in the transaction of its cause and numbered later, by one writer at a time:
-- so numbers become visible in order, and a reader that has seen n has seen all rows before it. `feed_head` has the last number
-- and the last deleted number.
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

-- The ledger of runs in mailboxes, written in the transaction of their events.
create table run_steps (
  id             text    primary key,
  run_id         text    not null references runs (id) on delete cascade,
  step_number    integer not null,
  status         text    not null default 'running',
  model_id       text    not null,
  input_tokens   integer not null,
  output_tokens  integer not null,
  usd            real    not null,
  created_at     integer not null,
  completed_at   integer,
  token_usage    text    not null generated always as
    (json_object('input_tokens', input_tokens, 'output_tokens', output_tokens)) virtual
) strict;
create index run_steps_run on run_steps (run_id, step_number);

create table run_messages (
  id            text   primary key,
  run_id        text   not null references runs (id) on delete cascade,
  step_id       text   references run_steps (id) on delete cascade,
  message_type  text   not null,
  content       text   not null,
  tool_name     text,
  tool_input    text,
  created_at    integer not null
) strict;
create index run_messages_run on run_messages (run_id, created_at);
create index run_messages_step on run_messages (step_id);
create index runs_of_agent on runs (agent, id) where face = 'channels';

-- Deleted threads, and deleted runs without a thread: every process removes their files.
create table removals (
  id          text    primary key,
  owner       text    not null,
  chat        text,  -- the thread's name in the chats face; null for a run without a thread
  removed_at  integer not null
) strict, without rowid;
create index removals_age on removals (removed_at, id);

-- The runs in mailboxes, with the conversation that started them.
create view agent_runs as
  select r.id, r.agent as agent_id,
         case r.status when 'queued' then 'created'
                       when 'waiting' then case when l.active_run = r.id then 'running' else 'created' end when 'done' then 'completed'
                       when 'error' then 'failed' when 'canceled' then 'cancelled' else r.status end as status,
         r.stop_reason, r.trigger_message_id, case when t.kind = 'channel' then r.thread_id end as channel_id,
         case when t.kind = 'dm' then r.thread_id end as dm_conversation_id, r.created_at, r.started_at,
         r.finished_at as completed_at,
         case when r.usage is not null then json_object(
           'input_tokens', coalesce(json_extract(r.usage, '$.input_tokens'), 0),
           'output_tokens', coalesce(json_extract(r.usage, '$.output_tokens'), 0)) end as token_usage
    from runs r left join threads t on t.id = r.thread_id left join lanes l on l.key = r.lane_key
   where r.face = 'channels';

-- Deleting the row of an agent deletes its runs in mailboxes and their child runs, with their logs and their ledger. (The
-- first statement makes the child runs the agent's own, so that the others delete them too.)
create trigger agents_deleted after delete on agents begin
  update runs set agent = old.id, face = 'channels' where id in (
    with recursive below as (
      select id from runs where agent = old.id and face = 'channels'
      union select c.id from below b join runs c on c.parent_run_id = b.id)
    select id from below);
  delete from waits where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from steered_messages where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from run_outbox where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from run_events where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from feed where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from lanes where key in (select lane_key from runs where agent = old.id and face = 'channels');
  delete from runs where agent = old.id and face = 'channels';
end;

-- Calls of rate-limited tools, numbered for each owner, agent and tool. Only the calls that a limit needs are stored.
-- `last` is the number of the last call.
create table tool_rates (
  owner      text    not null,
  agent      text    not null,
  tool       text    not null,
  last       integer not null default 0,
  called_at  integer not null default 0,
  primary key (owner, agent, tool)
) strict, without rowid;
create table tool_calls (
  owner      text    not null,
  agent      text    not null,
  tool       text    not null,
  no         integer not null,
  called_at  integer not null,
  primary key (owner, agent, tool, no),
  foreign key (owner, agent, tool) references tool_rates (owner, agent, tool) on delete cascade
) strict, without rowid;

-- Contents of files. `state`: uploading, ready, or dropped: to be deleted from the object store. `touched_at`: when a part
-- of an upload was last written.
create table file_contents (
  id          text    primary key,
  owner       text    not null,
  digest      text,
  size        integer not null default 0,
  place       text    not null,
  state       text    not null default 'uploading',
  touched_at  integer not null
) strict;
create unique index file_contents_digest on file_contents (owner, digest) where state = 'ready';
create index file_contents_open on file_contents (state, touched_at) where state <> 'ready';

create table file_chunks (
  content_id  text    not null references file_contents (id) on delete cascade,
  no          integer not null,
  data        blob    not null,
  primary key (content_id, no)
) strict;

-- Files. `is_used`: a message or a run has referred to it.
create table files (
  id          text    primary key,
  owner       text    not null,
  content_id  text    not null references file_contents (id) on delete cascade,
  name        text    not null,
  type        text    not null,
  size        integer not null,
  is_used     integer not null default 0,
  created_at  integer not null
) strict;
create index files_content on files (content_id);
create index files_unused on files (created_at) where not is_used;

-- What refers to a file: a message, or a run.
create table file_uses (
  file_id     text not null references files (id) on delete cascade,
  message_id  text references messages (id) on delete cascade,
  run_id      text references runs (id) on delete cascade
) strict;
create index file_uses_file on file_uses (file_id);
create index file_uses_message on file_uses (message_id) where message_id is not null;
create index file_uses_run on file_uses (run_id) where run_id is not null;

-- A file is deleted with its last use, and a content with its last file.
create trigger file_uses_deleted after delete on file_uses begin
  delete from files where id = old.file_id and not exists (select 1 from file_uses u where u.file_id = old.file_id);
end;
create trigger files_deleted after delete on files begin
  delete from file_contents where id = old.content_id and place = 'database'
     and not exists (select 1 from files f where f.content_id = old.content_id);
  update file_contents set state = 'dropped', touched_at = cast((julianday('now') - 2440587.5) * 86400000 as integer) where id = old.content_id
     and not exists (select 1 from files f where f.content_id = old.content_id);
end;

-- Pushes: addresses that get the updates of a run. Events up to `seq` are delivered. `due_at`: when the next attempt may
-- begin; null when everything is delivered or the attempts are over. A claim moves it into the future.
create table pushes (
  run_id      text    not null references runs (id) on delete cascade,
  id          text    not null,
  kind        text    not null,
  data        blob    not null,
  seq         integer not null default 0,
  failures    integer not null default 0,
  due_at      integer,
  created_at  integer not null,
  primary key (run_id, id)
) strict, without rowid;
create index pushes_due on pushes (due_at) where due_at is not null;

-- The words of messages that are not sealed. The index refers to row numbers; triggers keep it.
create view plain_messages as select rowid as no, text from messages where substr(text, 1, 1) <> char(64976);
create virtual table message_words using fts5 (
  text, content = 'plain_messages', content_rowid = 'no', tokenize = 'unicode61 remove_diacritics 0');
create trigger messages_in after insert on messages when substr(new.text, 1, 1) <> char(64976) begin
  insert into message_words (rowid, text) values (new.rowid, new.text);
end;
create trigger messages_out after delete on messages when substr(old.text, 1, 1) <> char(64976) begin
  insert into message_words (message_words, rowid, text) values ('delete', old.rowid, old.text);
end;
create trigger messages_changed_out after update of text on messages when substr(old.text, 1, 1) <> char(64976) begin
  insert into message_words (message_words, rowid, text) values ('delete', old.rowid, old.text);
end;
create trigger messages_changed_in after update of text on messages when substr(new.text, 1, 1) <> char(64976) begin
  insert into message_words (rowid, text) values (new.rowid, new.text);
end;

-- What a person thinks of the answer of a run: one verdict for each run.
create table feedback (
  run_id      text    primary key not null references runs (id) on delete cascade,
  value       text    not null check (value in ('up', 'down')),
  comment     text,
  created_at  integer not null
) strict, without rowid;

-- Links that show the messages of a thread up to `upto` to readers without a key. Only a digest of the token is stored;
-- revoking deletes the row.
create table shares (
  id          text    primary key not null,
  owner       text    not null,
  thread_id   text    not null references threads (id) on delete cascade,
  digest      text    not null unique,
  upto        text    not null,
  created_at  integer not null,
  expires_at  integer not null
) strict, without rowid;
create index shares_thread on shares (thread_id, id);
create index shares_expiry on shares (expires_at);
