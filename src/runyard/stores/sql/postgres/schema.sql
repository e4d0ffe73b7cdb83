-- The whole schema on PostgreSQL (14 or later). Migrations add up to exactly this; a test compares the two.
-- Times are milliseconds since 1970. Deadlines are compared with now_ms(), the database's clock, never with a worker's.
-- Lock order: workers, lanes (sorted), runs (sorted). There are no foreign keys on the hot path: a thread can only be
-- deleted under its lane's lock with no live run, and rows of its runs are only written under the same lock.

create function now_ms() returns bigint language sql volatile
  return (extract(epoch from clock_timestamp()) * 1000)::bigint;

create table threads (
  id           uuid   primary key,
  owner        text   not null,
  kind         text   not null default 'chat',
  external_id  text,
  user_id      text,
  agent        text,
  head_run_id  uuid,
  created_at   bigint not null,
  forked_from  uuid,
  name         text,  -- of a channel; for a DM, its participants
  topic        text,
  is_private   boolean not null default false,
  metadata     text,  -- values of the client, as JSON
  title        text  -- null until a person names a chat
);
create unique index threads_external on threads (owner, external_id) where external_id is not null;
create index threads_owner on threads (owner, id);
create index threads_forks on threads (forked_from) where forked_from is not null;
create unique index threads_name on threads (owner, kind, name) where name is not null;

create table messages (
  id          uuid   primary key,
  thread_id   uuid   not null,
  run_id      uuid,
  role        text   not null,
  text        text   not null,
  sources     text   not null default '[]',
  created_at  bigint not null,
  sender      text,
  parent_id   uuid,
  cause       text,  -- the tool call that posted it, `run_id:call_id`
  parts       text,  -- the JSON of its content parts; null for plain text
  edited_at   bigint,
  deleted_at  bigint  -- its text is replaced then; the row stays for its replies
);
create index messages_thread on messages (thread_id, id);
create index messages_run on messages (run_id);
create unique index messages_cause on messages (cause) where cause is not null;
create index messages_parent on messages (parent_id) where parent_id is not null;

-- One narrow row per lane: the only rows that workers contend for.
create table lanes (
  key         text    primary key,
  next_pos    bigint  not null default 1,
  runnable    integer not null default 0 check (runnable >= 0),
  active_run  uuid,
  ready_at    bigint  not null default 0,
  suspect     boolean not null default false,
  -- Null unless it may be claimed from. Only this column is indexed: a run that starts and ends in a lane without a queue
  -- changes no index, so its updates stay heap-only.
  ready_since bigint generated always as (case when active_run is null and runnable > 0 then ready_at end) stored
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
create index lanes_ready on lanes (suspect, ready_since, key) where ready_since is not null;

create table runs (
  id                   uuid    primary key,
  external_id          text,
  owner                text    not null,
  face                 text    not null,
  lane_key             text    not null,
  pos                  bigint  not null,
  agent                text    not null,
  agent_version        text,
  thread_id            uuid,
  trigger_message_id   uuid,
  parent_id            uuid,
  retry_of             uuid,
  superseded_by        uuid,
  status               text    not null default 'queued',
  stop_reason          text,
  error_code           text,
  error                text,
  usage                text,
  fence                bigint  not null default 0,
  last_seq             bigint  not null default 0,
  last_batch           bigint  not null default 0,
  attempts             integer not null default 0,
  resume_why           text,
  worker_id            uuid,
  asked                integer not null default 0,
  cancel_requested_at  bigint,
  cancel_deadline      bigint,
  created_at           bigint  not null,
  started_at           bigint,
  finished_at          bigint,
  state                text    not null default 'started',  -- only the outbox changes it
  detach_deadline      bigint,  -- its client disconnected: canceled then, unless a client reconnects
  checkpoint_at        bigint,
  held                 boolean not null default false,  -- waits for its turn: not runnable, whatever its status
  after_run            uuid,  -- the run whose end (or park) it waits for
  pause_ms             integer,  -- the pause after that
  due_at               bigint,  -- when it may run
  depth                integer not null default 0,  -- in the chain of runs that a person's message started
  parent_run_id        uuid,  -- the run that waits for this one
  has_client_tools     boolean not null default false,  -- its first event names tools of the client
  unread               int     not null default 0,  -- messages for it that its agent has not taken
  first_token_ms       bigint  -- from its creation to the first token, if it had one before its first pause
) with (fillfactor = 50);
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

-- The log. Time-ordered run ids keep a run's events together and let retention drop whole partitions.
create table run_events (
  run_id  uuid     not null,
  seq     bigint   not null,
  id      uuid     not null,
  ts      bigint   not null,
  type    text     not null,
  v       smallint not null default 1,
  source  text     not null,
  name    text,
  fn      text,
  fence   bigint   not null,
  data    bytea    not null,
  primary key (run_id, seq)
) partition by range (run_id);
create unique index run_events_one_end on run_events (run_id) where type = 'run.finished';
create table run_events_default partition of run_events default;

-- Create the missing partitions of this week and the next `ahead` weeks. Attaching takes no lock that blocks readers or
-- writers; the advisory lock keeps two processes from creating the same partition. Rows that a server with a wrong clock
-- wrote into the default partition are moved first.
create function add_event_partitions(ahead integer) returns integer language plpgsql as $$
declare
  week  constant bigint := 7 * 24 * 3600 * 1000;
  first constant bigint := now_ms() / week;
  made  integer := 0;
  part  text;
  low   uuid;
  high  uuid;
begin
  for n in first .. first + ahead loop
    part := 'run_events_w' || n;
    continue when exists (select 1 from pg_class where relname = part and relnamespace = current_schema()::regnamespace);
    perform pg_advisory_xact_lock(hashtext('runyard.add_event_partitions'));
    continue when exists (select 1 from pg_class where relname = part and relnamespace = current_schema()::regnamespace);  -- a new snapshot: look again
    low := (lpad(to_hex(n * week), 12, '0') || repeat('0', 20))::uuid;
    high := (lpad(to_hex((n + 1) * week), 12, '0') || repeat('0', 20))::uuid;
    execute format('create table %I (like run_events including defaults)', part);
    if exists (select 1 from run_events_default where run_id >= low and run_id < high) then
      lock table run_events_default in access exclusive mode;
      execute format('with moved as (delete from run_events_default where run_id >= %L and run_id < %L returning *)'
                     ' insert into %I select * from moved', low, high, part);
    end if;
    execute format('alter table run_events attach partition %I for values from (%L) to (%L)', part, low, high);
    made := made + 1;
  end loop;
  return made;
end $$;

-- The publication cursor of a run: every event below next_seq is published. `open`: there may be more to publish, so the
-- poll reads it. The outbox closes a queued, waiting or ended run once all its events are published. `turn` rises whenever
-- a transaction opens it again, so that a publisher with an older turn does not close it.
create table run_outbox (
  run_id      uuid    primary key,
  next_seq    bigint  not null default 1,
  open        boolean not null default true,
  turn        integer not null default 0,
  updated_at  bigint  not null,
  dated       boolean not null default false  -- the publication time of its events is stored
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
create index run_outbox_open on run_outbox (run_id) where open;

-- Publication times of the events of plans: all events up to `upto` that no earlier row covers. A row never changes.
create table publications (
  run_id        uuid   not null references run_outbox (run_id) on delete cascade,
  upto          bigint not null,
  published_at  bigint not null,
  primary key (run_id, upto)
);

-- The events of plans with their publication times, null until then.
create view run_publication as
  select e.run_id, e.seq, e.id, e.ts, e.type, e.v, e.source, e.name, e.fn,
         (select p.published_at from publications p where p.run_id = e.run_id and p.upto >= e.seq
           order by p.upto limit 1) as published_at,
         e.ts as created_at
    from run_events e join run_outbox o on o.run_id = e.run_id where o.dated;

-- The runs of plans. `v` is the version of this layout. A run changes with its last event and with its publication.
create view plan_runs as
  select coalesce(r.external_id, r.id::text) as id, r.id as server_run_id, r.owner, r.state, r.created_at as started_at,
         case when r.state <> 'started' then r.finished_at end as finished_at, r.last_seq, 1 as v, r.created_at,
         greatest(e.ts, o.updated_at) as updated_at
    from runs r join run_outbox o on o.run_id = r.id join run_events e on e.run_id = r.id and e.seq = r.last_seq
   where r.face = 'plans';

-- Waits: what runs wait for. `target` names the run or the event that answers a wait.
create table waits (
  id           text    primary key,
  run_id       uuid    not null,
  call_id      text    not null,
  kind         text    not null,
  name         text    not null,
  input        bytea    not null,
  state        text    not null default 'pending',
  answered_by  text,
  created_at   bigint not null,
  answered_at  bigint,
  expires_at   bigint,
  target       text
);
create index waits_run on waits (run_id);
-- What a person or a client answers.
create index waits_pending on waits (created_at, id)
  where state = 'pending' and kind in ('tool', 'unknown_outcome', 'confirmation', 'question', 'client_tool');
create index waits_expiry on waits (expires_at) where state = 'pending' and expires_at is not null;
create index waits_target on waits (target) where state = 'pending' and target is not null;

-- Messages for runs that were under way. `state`: new, taken by the run's agent, or left: it started a new run, with
-- `next_run_id` and the first event `id`, `ts`, `data`.
create table steered_messages (
  message_id        uuid    primary key,
  run_id            uuid    not null,
  seq               bigint  not null,
  state             text    not null default 'new',
  next_run_id       uuid    not null,
  face              text    not null,
  agent             text    not null,
  id                uuid    not null,
  ts                bigint  not null,
  data              bytea   not null,
  has_client_tools  boolean not null,
  created_at        bigint  not null
);
create index steered_messages_run on steered_messages (run_id, seq);
create unique index steered_messages_next on steered_messages (next_run_id);

-- Events that machines delivered. One that no run waited for is kept for a while. `taken_at`: a run has got it.
create table kept_events (
  owner       text    not null,
  id          text    not null,
  name        text    not null,
  target      text    not null,
  data        bytea    not null,
  created_at  bigint not null,
  expires_at  bigint not null,
  taken_at    bigint,
  primary key (owner, id)
);
create index kept_events_target on kept_events (target, created_at) where taken_at is null;
create index kept_events_expiry on kept_events (expires_at);

-- Checkpoints: copies of ended runs in the format of a face. Derived from the log.
create table checkpoints (
  run_id     uuid    primary key,
  thread_id  uuid    not null,
  data       bytea   not null,
  saved_at   bigint  not null
);
create index checkpoints_thread on checkpoints (thread_id, run_id);

-- Snapshots: states of runs from which a reader continues instead of folding the whole log. Derived from the log.
create table run_snapshots (
  run_id    uuid not null references runs (id) on delete cascade,
  kind      text not null,
  seq       bigint not null,
  data      bytea not null,
  saved_at  bigint not null,
  primary key (run_id, kind, seq)
);

-- The encryption keys that sealed content in this database, each with a sealed value as a proof.
create table encryption_keys (
  id          text   primary key,
  proof       bytea  not null,
  created_at  bigint not null
);

-- Tombstones of deleted runs, stored for a limited time. `has_log`: their events are still in a partition of the log.
create table dropped_runs (
  id           uuid    primary key,
  owner        text    not null,
  external_id  text,
  agent        text    not null,
  status       text    not null,
  stop_reason  text,
  error_code   text,
  last_seq     bigint  not null,
  created_at   bigint  not null,
  finished_at  bigint  not null,
  dropped_at   bigint  not null,
  has_log      boolean not null
);
create index dropped_runs_age on dropped_runs (dropped_at);
create index dropped_runs_external on dropped_runs (owner, external_id) where external_id is not null;

-- Free the space of the log's partitions that end before a time. A partition without runs is dropped as a whole, and only
-- if no reader uses it; from the others the logs of deleted runs are removed, a few at a time.
create function drop_event_partitions(before bigint) returns integer language plpgsql as $$
declare
  week   constant bigint := 7 * 24 * 3600 * 1000;
  part   record;
  low    uuid;
  high   uuid;
  gone   uuid[];
  empty  text[] := '{}';
begin
  perform pg_advisory_xact_lock(hashtext('runyard.add_event_partitions'));
  for part in
    select c.relname, substr(c.relname, 13)::bigint as n from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'run_events'::regclass and c.relname ~ '^run_events_w[0-9]+$' order by 2
  loop
    exit when (part.n + 1) * week > before;
    low := (lpad(to_hex(part.n * week), 12, '0') || repeat('0', 20))::uuid;
    high := (lpad(to_hex((part.n + 1) * week), 12, '0') || repeat('0', 20))::uuid;
    if not exists (select 1 from runs where id >= low and id < high) then
      update dropped_runs set has_log = false where id >= low and id < high and has_log;
      empty := empty || part.relname::text;
    else
      select array_agg(id) into gone from
        (select id from dropped_runs where id >= low and id < high and has_log order by id limit 200) d;
      delete from run_events where run_id = any(gone);
      update dropped_runs set has_log = false where id = any(gone);
    end if;
  end loop;
  select array_agg(d.id) into gone from
    (select id from dropped_runs where has_log and exists
      (select 1 from run_events_default e where e.run_id = dropped_runs.id) order by id limit 200) d;
  delete from run_events_default where run_id = any(gone);
  update dropped_runs set has_log = false where id = any(gone);
  if cardinality(empty) > 0 then  -- last: from here to the commit nobody writes
    begin
      set local lock_timeout = '200ms';
      execute 'drop table ' || (select string_agg(quote_ident(name), ', ') from unnest(empty) as e (name));
    exception when lock_not_available then
      return 0;  -- a reader stands in the way: the next time
    end;
  end if;
  return cardinality(empty);
end $$;

create table workers (
  id           uuid   primary key,
  label        text   not null,
  lease_until  bigint not null,
  started_at   bigint not null
) with (fillfactor = 50);
create index workers_lease on workers (lease_until);

-- API keys. Only a digest of the secret is stored; `last_used_at` is coarse.
create table api_keys (
  id            text    primary key,
  owner         text    not null,
  digest        text    not null,
  scopes        text    not null,
  label         text    not null,
  created_at    bigint  not null,
  expires_at    bigint,
  last_used_at  bigint,
  revoked_at    bigint
);
create index api_keys_age on api_keys (created_at, id);

create table idempotency_keys (
  scope       text   not null,
  key         text   not null,
  digest      text   not null,
  result      uuid   not null,
  created_at  bigint not null,
  primary key (scope, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

create table documents (
  collection  text not null,
  id          text not null,
  title       text not null,
  text        text not null,
  words       tsvector not null generated always as (to_tsvector('english', title || ' ' || text)) stored,
  primary key (collection, id)
);
create index documents_words on documents using gin (words);

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
  max_usd       double precision not null default 0.1,
  is_active     boolean not null default true,
  created_at    bigint not null,
  updated_at    bigint not null
);

-- The session that an agent's next run in a conversation resumes, for kinds of agents with sessions.
create table agent_sessions (
  agent       text not null references agents (id) on delete cascade,
  thread_id   uuid not null,
  session_id  text not null,
  primary key (agent, thread_id)
);
create index agent_sessions_thread on agent_sessions (thread_id);

-- The members of channels and DMs, in the order they joined.
create table thread_members (
  thread_id  uuid not null,
  member     text not null,
  kind       text not null,
  no         bigint not null,
  primary key (thread_id, kind, member)
);
create index thread_members_of on thread_members (kind, member, thread_id);

-- How far people have read: up to which message of a conversation.
create table read_positions (
  thread_id   uuid not null references threads (id) on delete cascade,
  reader      text not null,
  message_id  uuid not null,
  primary key (thread_id, reader)
);

create table reactions (
  message_id  uuid not null,
  sender      text not null,
  role        text not null,
  emoji       text not null,
  created_at  bigint not null,
  primary key (message_id, emoji, role, sender)
);

-- Core memory: in every prompt of its agent for its owner and, if it is shared, of the agents that are linked to it. `owner`
-- is '' for the memory of an agent that is declared as shared.
create table memory_blocks (
  id          uuid primary key,
  agent       text not null references agents (id) on delete cascade,
  label       text not null,
  content     text not null,
  is_shared   boolean not null default false,
  updated_at  bigint not null,
  owner       text not null default ''
);
create unique index memory_blocks_label on memory_blocks (agent, owner, label);

create table shared_block_links (
  block_id  uuid not null references memory_blocks (id) on delete cascade,
  agent     text not null references agents (id) on delete cascade,
  owner     text not null default '',
  primary key (block_id, agent, owner)
);
create index shared_block_links_agent on shared_block_links (agent, owner);

-- Passages: texts that agents store and search.
create table passages (
  id          uuid   primary key,
  agent       text   not null references agents (id) on delete cascade,
  content     text   not null,
  tags        text   not null default '[]',
  created_at  bigint not null,
  cause       text,
  words       tsvector not null generated always as (to_tsvector('english', content || ' ' || tags)) stored,
  owner       text   not null default ''
);
create unique index passages_cause on passages (cause) where cause is not null;
create index passages_agent on passages (agent, owner, id);
create index passages_words on passages using gin (words);

-- The feed of conversations. A row is written in the transaction of its cause and numbered later, by one writer at a time:
-- so numbers become visible in order, and a reader that has seen n has seen all rows before it. `feed_head` has the last number
-- (its row is the lock of that writer) and the last deleted number.
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

-- The ledger of runs in mailboxes, written in the transaction of their events.
create table run_steps (
  id             uuid    primary key,
  run_id         uuid    not null references runs (id) on delete cascade,
  step_number    integer not null,
  status         text    not null default 'running',
  model_id       text    not null,
  input_tokens   bigint  not null,
  output_tokens  bigint  not null,
  usd            double precision not null,
  created_at     bigint  not null,
  completed_at   bigint,
  token_usage    jsonb   not null generated always as
    (('{"input_tokens": ' || input_tokens::text || ', "output_tokens": ' || output_tokens::text || '}')::jsonb) stored
);
create index run_steps_run on run_steps (run_id, step_number);

create table run_messages (
  id            uuid   primary key,
  run_id        uuid   not null references runs (id) on delete cascade,
  step_id       uuid   references run_steps (id) on delete cascade,
  message_type  text   not null,
  content       text   not null,
  tool_name     text,
  tool_input    text,
  created_at    bigint not null
);
create index run_messages_run on run_messages (run_id, created_at);
create index run_messages_step on run_messages (step_id);
create index runs_of_agent on runs (agent, id) where face = 'channels';

-- Deleted threads, and deleted runs without a thread: every process removes their files.
create table removals (
  id          uuid    primary key,
  owner       text    not null,
  chat        text,  -- the thread's name in the chats face; null for a run without a thread
  removed_at  bigint  not null
);
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
         case when r.usage is not null then jsonb_build_object(
           'input_tokens', coalesce((r.usage::jsonb ->> 'input_tokens')::bigint, 0),
           'output_tokens', coalesce((r.usage::jsonb ->> 'output_tokens')::bigint, 0)) end as token_usage
    from runs r left join threads t on t.id = r.thread_id left join lanes l on l.key = r.lane_key
   where r.face = 'channels';

-- Deleting the row of an agent deletes its runs in mailboxes and their child runs, with their logs and their ledger. (A
-- foreign key would lock the agent row whenever a run is created.)
create function drop_agent_runs() returns trigger language plpgsql as $$
declare
  gone   uuid[];
  queues text[];
begin
  with recursive below as (
    select r.id, r.lane_key from runs r where r.agent = old.id and r.face = 'channels'
    union select c.id, c.lane_key from below b join runs c on c.parent_run_id = b.id)
  select array_agg(id), array_agg(distinct lane_key) into gone, queues from below;
  perform 1 from lanes where key = any(queues) order by key for update;
  delete from waits where run_id = any(gone);
  delete from steered_messages where run_id = any(gone);
  delete from run_outbox where run_id = any(gone);
  delete from run_events where run_id = any(gone);
  delete from feed where run_id = any(gone);
  delete from runs where id = any(gone);
  delete from lanes where key = any(queues);
  return null;
end $$;
create trigger agents_deleted after delete on agents for each row execute function drop_agent_runs();

-- Calls of rate-limited tools, numbered for each owner, agent and tool. Only the calls that a limit needs are stored.
-- `last` is the number of the last call, and the row is the lock of the count.
create table tool_rates (
  owner      text   not null,
  agent      text   not null,
  tool       text   not null,
  last       bigint not null default 0,
  called_at  bigint not null default 0,
  primary key (owner, agent, tool)
) with (fillfactor = 50);
create table tool_calls (
  owner      text   not null,
  agent      text   not null,
  tool       text   not null,
  no         bigint not null,
  called_at  bigint not null,
  primary key (owner, agent, tool, no),
  foreign key (owner, agent, tool) references tool_rates (owner, agent, tool) on delete cascade
);

-- Contents of files. `state`: uploading, ready, or dropped: to be deleted from the object store. `touched_at`: when a part
-- of an upload was last written.
create table file_contents (
  id          uuid   primary key,
  owner       text   not null,
  digest      text,
  size        bigint not null default 0,
  place       text   not null,
  state       text   not null default 'uploading',
  touched_at  bigint not null
);
create unique index file_contents_digest on file_contents (owner, digest) where state = 'ready';
create index file_contents_open on file_contents (state, touched_at) where state <> 'ready';

create table file_chunks (
  content_id  uuid  not null references file_contents (id) on delete cascade,
  no          int   not null,
  data        bytea not null,
  primary key (content_id, no)
);

-- Files. `is_used`: a message or a run has referred to it.
create table files (
  id          uuid    primary key,
  owner       text    not null,
  content_id  uuid    not null references file_contents (id) on delete cascade,
  name        text    not null,
  type        text    not null,
  size        bigint  not null,
  is_used     boolean not null default false,
  created_at  bigint  not null
);
create index files_content on files (content_id);
create index files_unused on files (created_at) where not is_used;

-- What refers to a file: a message, or a run.
create table file_uses (
  file_id     uuid not null references files (id) on delete cascade,
  message_id  uuid references messages (id) on delete cascade,
  run_id      uuid references runs (id) on delete cascade
);
create index file_uses_file on file_uses (file_id);
create index file_uses_message on file_uses (message_id) where message_id is not null;
create index file_uses_run on file_uses (run_id) where run_id is not null;

-- A file is deleted with its last use, and a content with its last file. The locks make concurrent uses and uploads wait,
-- and each later statement sees what they committed.
create function drop_unused_file() returns trigger language plpgsql as $$
begin
  perform 1 from files where id = old.file_id for update;
  delete from files where id = old.file_id and not exists (select 1 from file_uses u where u.file_id = old.file_id);
  return null;
end $$;
create trigger file_uses_deleted after delete on file_uses for each row execute function drop_unused_file();

create function drop_unused_content() returns trigger language plpgsql as $$
begin
  perform 1 from file_contents where id = old.content_id for update;
  if not exists (select 1 from files f where f.content_id = old.content_id) then
    delete from file_contents where id = old.content_id and place = 'database';
    update file_contents set state = 'dropped', touched_at = now_ms() where id = old.content_id;
  end if;
  return null;
end $$;
create trigger files_deleted after delete on files for each row execute function drop_unused_content();

-- Pushes: addresses that get the updates of a run. Events up to `seq` are delivered. `due_at`: when the next attempt may
-- begin; null when everything is delivered or the attempts are over. A claim moves it into the future.
create table pushes (
  run_id      uuid    not null references runs (id) on delete cascade,
  id          text    not null,
  kind        text    not null,
  data        bytea   not null,
  seq         bigint  not null default 0,
  failures    integer not null default 0,
  due_at      bigint,
  created_at  bigint  not null,
  primary key (run_id, id)
);
create index pushes_due on pushes (due_at) where due_at is not null;

-- The words of the first 100,000 characters of a message, for the full-text index. ASCII that is no letter and no digit
-- separates words, so that the parser finds no addresses and no numbers with signs.
create function words_of(text) returns tsvector language sql immutable parallel safe as $$
  select to_tsvector('simple', regexp_replace(left($1, 100000), '[\u0001-/:-@\[-`{-\u007f]+', ' ', 'g'))
$$;
create index messages_words on messages using gin (words_of(text)) where left(text, 1) <> chr(64976);

-- What a person thinks of the answer of a run: one verdict for each run.
create table feedback (
  run_id      uuid    primary key references runs (id) on delete cascade,
  value       text    not null check (value in ('up', 'down')),
  comment     text,
  created_at  bigint  not null
);

-- Links that show the messages of a thread up to `upto` to readers without a key. Only a digest of the token is stored;
-- revoking deletes the row.
create table shares (
  id          uuid    primary key,
  owner       text    not null,
  thread_id   uuid    not null references threads (id) on delete cascade,
  digest      text    not null unique,
  upto        uuid    not null,
  created_at  bigint  not null,
  expires_at  bigint  not null
);
create index shares_thread on shares (thread_id, id);
create index shares_expiry on shares (expires_at);
