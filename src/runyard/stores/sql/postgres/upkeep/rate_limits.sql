-- name: lock_rate
-- Lock the count of an owner's calls of a tool by an agent; insert it if there is none.
insert into tool_rates (owner, agent, tool) values ($1, $2, $3)
    on conflict (owner, agent, tool) do update set last = tool_rates.last returning last, now_ms() as now;

-- name: get_call
-- The time of the call with this number, if it is stored.
select called_at from tool_calls where owner = $1 and agent = $2 and tool = $3 and no = $4;

-- name: count_call
-- Increase the count of calls by one.
update tool_rates set last = $4, called_at = $5 where owner = $1 and agent = $2 and tool = $3;

-- name: insert_call
-- Insert the time of a call.
insert into tool_calls (owner, agent, tool, no, called_at) values ($1, $2, $3, $4, $5);

-- name: drop_calls
-- Delete calls up to this number: the limit no longer needs them.
delete from tool_calls where owner = $1 and agent = $2 and tool = $3 and no <= $4;

-- name: forget_calls
-- Delete counts whose last call is older than the given age.
delete from tool_rates where called_at < now_ms() - $1::bigint;
