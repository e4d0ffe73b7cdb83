-- Memory, sessions and mailboxes of agents, separated by owner.

-- What an agent remembers belongs to the owner it was stored for: of a passage, the owner of the run that stored it; else the
-- owner of the agent; else the only owner that the agent has worked for. What none of these tell belongs to no owner (''): it
-- is kept, and read only if the agent is declared as shared.
alter table memory_blocks add column owner text not null default '';
update memory_blocks b set owner = coalesce(
  (select a.owner from agents a where a.id = b.agent),
  (select min(r.owner) from runs r where r.agent = b.agent and r.face = 'channels' having count(distinct r.owner) = 1),
  '');
drop index memory_blocks_label;
create unique index memory_blocks_label on memory_blocks (agent, owner, label);

alter table passages add column owner text not null default '';
update passages p set owner = coalesce(
  (select r.owner from runs r where r.id = case when p.cause ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:' then left(p.cause, 36)::uuid end),
  (select a.owner from agents a where a.id = p.agent),
  (select min(r.owner) from runs r where r.agent = p.agent and r.face = 'channels' having count(distinct r.owner) = 1),
  '');
drop index passages_agent;
create index passages_agent on passages (agent, owner, id);

-- A link lets an agent read a block when it works for an owner.
alter table shared_block_links add column owner text not null default '';
update shared_block_links l set owner = b.owner from memory_blocks b where b.id = l.block_id;
alter table shared_block_links drop constraint shared_block_links_pkey;
alter table shared_block_links add primary key (block_id, agent, owner);
drop index shared_block_links_agent;
create index shared_block_links_agent on shared_block_links (agent, owner);

-- Sessions are kept per conversation. The ones that were kept mix conversations and are not resumed.
alter table agents drop column session_id;
create table agent_sessions (
  agent       text not null references agents (id) on delete cascade,
  thread_id   uuid not null,
  session_id  text not null,
  primary key (agent, thread_id)
);
create index agent_sessions_thread on agent_sessions (thread_id);

-- A mailbox is a lane per agent and owner: each old lane becomes one lane for every owner whose runs are in it.
insert into lanes (key, next_pos, runnable, active_run, ready_at, suspect)
select l.key || ':' || r.owner, l.next_pos, count(*) filter (where r.status = 'queued' and not r.held),
       (array_agg(r.id) filter (where r.id = l.active_run))[1], l.ready_at, l.suspect
  from lanes l join runs r on r.lane_key = l.key
 where r.face = 'channels' and l.key like 'agent:%'
 group by l.key, r.owner;
delete from lanes where key in (select lane_key from runs where face = 'channels' and lane_key like 'agent:%');
update runs set lane_key = lane_key || ':' || owner where face = 'channels' and lane_key like 'agent:%';

-- A run that waits for a person and has given its place in the mailbox away is not running.
drop view agent_runs;
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
