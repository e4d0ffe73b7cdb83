-- fragment: approval
a.id, a.run_id, a.call_id, a.kind, a.tool, a.input, a.state, a.decided_by, a.created_at, a.decided_at,
a.expires_at

-- name: insert_approvals
-- Insert pending approvals; a repeated insert changes nothing.
insert into approvals (id, run_id, call_id, kind, tool, input, created_at, expires_at)
select * from unnest($1::text::text[], $2::text::uuid[], $3::text::text[], $4::text::text[], $5::text::text[], $6::text::bytea[], $7::text::bigint[], $8::text::bigint[])
    on conflict do nothing;

-- name: void_approvals
-- Make the pending approvals of ended runs void.
update approvals set state = 'void' where run_id = any($1::uuid[]) and state = 'pending';

-- name: count_decided
-- How many of these approvals have a decision.
select count(*) as n from approvals where id = any($1::text[]) and state <> 'pending';

-- name: get_approval
-- One approval of an owner, with the lane of its run.
select {approval}, r.lane_key from approvals a join runs r on r.id = a.run_id where r.owner = $1 and a.id = $2;

-- name: list_approvals
-- An owner's pending approvals, newest first.
select {approval} from approvals a join runs r on r.id = a.run_id
 where r.owner = $1 and a.state = 'pending' and ($2::text is null or a.id < $2) and ($4::uuid is null or a.run_id = $4)
 order by a.id desc limit $3;

-- name: decide_approval
-- Record a decision, unless there is one.
update approvals as a set state = $2, decided_by = $3, decided_at = now_ms() where a.id = $1 and a.state = 'pending'
returning {approval};

-- name: expired_approvals
-- Pending approvals past their deadline, with the owners and lanes of their runs.
select a.id, a.run_id, r.owner, r.lane_key from approvals a join runs r on r.id = a.run_id
 where a.state = 'pending' and a.expires_at <= now_ms() order by a.expires_at limit $1;
