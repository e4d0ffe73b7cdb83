-- name: lock_rate
-- The count of an owner's calls of a tool by an agent, locked; it is made if there is none.
insert into tool_rates (owner, agent, tool) values (?1, ?2, ?3)
    on conflict (owner, agent, tool) do update set last = tool_rates.last returning last, now_ms() as now;

-- name: get_call
-- When the call of this number was made, if it is kept.
select called_at from tool_calls where owner = ?1 and agent = ?2 and tool = ?3 and no = ?4;

-- name: count_call
-- One call more.
update tool_rates set last = ?4, called_at = ?5 where owner = ?1 and agent = ?2 and tool = ?3;

-- name: insert_call
-- When it was made.
insert into tool_calls (owner, agent, tool, no, called_at) values (?1, ?2, ?3, ?4, ?5);

-- name: drop_calls
-- Calls up to this number are no longer needed by the limit.
delete from tool_calls where owner = ?1 and agent = ?2 and tool = ?3 and no <= ?4;

-- name: forget_calls
-- Counts whose last call is older than the given age: no limit looks back so far.
delete from tool_rates where called_at < now_ms() - ?1;
