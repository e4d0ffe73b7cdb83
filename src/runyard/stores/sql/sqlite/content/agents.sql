-- fragment: profile
id, owner, display_name, title, avatar_color, persona, model, max_turns, max_usd, is_active, created_at, updated_at

-- name: insert_agent
-- Insert an agent, unless the id is taken.
insert into agents (id, owner, display_name, title, avatar_color, persona, model, max_turns, max_usd, is_active, created_at, updated_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    on conflict (id) do nothing
returning id;

-- name: declare_agents
-- Insert or update agents that code declares; their active flag stays.
insert into agents (id, owner, display_name, title, avatar_color, persona, model, max_turns, max_usd, created_at, updated_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10)
    on conflict (id) do update set owner = null, persona = excluded.persona, model = excluded.model,
       max_turns = excluded.max_turns, max_usd = excluded.max_usd, updated_at = excluded.updated_at
 where agents.owner is not null or agents.persona <> excluded.persona or agents.model is not excluded.model
    or agents.max_turns <> excluded.max_turns or agents.max_usd <> excluded.max_usd;

-- name: get_agent
-- An agent that a caller may use: their own, or one that code declares.
select {profile} from agents where id = ?2 and (owner = ?1 or owner is null);

-- name: find_agent
-- An agent by its id, without an ownership check.
select {profile} from agents where id = ?1;

-- name: list_agents
-- The agents that a caller may use, by id.
select {profile} from agents
 where (owner = ?1 or owner is null) and (?2 is null or id > ?2) and (is_active or ?4) order by id limit ?3;

-- name: active_agents
-- Those of these agents that are active and that the owner of a conversation may use.
select id from agents where id in (select value from json_each(?1)) and is_active and (owner = ?2 or owner is null);

-- name: change_agent
-- Update an agent.
update agents set display_name = ?2, title = ?3, avatar_color = ?4, persona = ?5, model = ?6, max_turns = ?7,
       max_usd = ?8, is_active = ?9, updated_at = ?10
 where id = ?1;

-- name: get_session
-- The session that an agent's next run in a conversation resumes.
select session_id from agent_sessions where agent = ?1 and thread_id = ?2;

-- name: save_session
-- Store the session of an agent in a conversation, unless one of the two is deleted.
insert into agent_sessions (agent, thread_id, session_id)
select a.id, t.id, ?3 from agents a, threads t where a.id = ?1 and t.id = ?2
    on conflict (agent, thread_id) do update set session_id = excluded.session_id;
