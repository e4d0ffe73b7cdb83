-- name: get_run
-- One run of an owner.
select {run} from runs r where r.owner = $1 and r.id = $2;

-- name: get_named_run
-- One run of an owner by its external id.
select {run} from runs r where r.owner = $1 and r.external_id = $2;

-- name: get_runs
-- Runs of an owner by id.
select {run} from runs r where r.owner = $1 and r.id = any($2::uuid[]);

-- name: ancestors
-- The last runs before a run along parent_id, newest first. (`offset 0` makes the planner look up each run by its id. With
-- the statistics of an empty table it would scan all runs, or all of an owner.)
with recursive line as (
  select p.id, p.parent_id, p.owner, 1 as depth
    from runs r
    cross join lateral (select p.id, p.parent_id, p.owner from runs p where p.id = r.parent_id offset 0) p
   where r.id = $1 and $2 > 0 and p.owner = r.owner
  union all
  select p.id, p.parent_id, p.owner, l.depth + 1
    from line l
    cross join lateral (select p.id, p.parent_id, p.owner from runs p where p.id = l.parent_id offset 0) p
   where l.depth < $2 and p.owner = l.owner
)
select r.* from line l
  cross join lateral (select {run} from runs r where r.id = l.id offset 0) r
 order by l.depth;

-- name: list_runs
-- An owner's runs, newest first, perhaps of one agent.
select {run} from runs r
 where r.owner = $1 and r.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
   and ($3::text is null or r.agent = $3)
 order by r.id desc limit $4;

-- name: list_runs_by_status
-- An owner's runs of one status. A separate statement, so that an index finds a rare status.
select {run} from runs r
 where r.owner = $1 and r.status = $5 and r.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
   and ($3::text is null or r.agent = $3)
 order by r.id desc limit $4;

-- name: list_runs_by_error
-- An owner's runs of one status that failed with one code. A separate statement, so that the others keep their plans.
select {run} from runs r
 where r.owner = $1 and r.status = $5 and r.error_code = $6 and r.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
   and ($3::text is null or r.agent = $3)
 order by r.id desc limit $4;

-- name: list_thread_runs
-- The runs of a thread, newest first. A separate statement, so that an index finds the thread among all runs.
select {run} from runs r
 where r.thread_id = $5 and r.owner = $1 and r.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
   and ($3::text is null or r.agent = $3) and ($6::text is null or r.status = $6)
   and ($7::text is null or r.error_code = $7)
 order by r.id desc limit $4;

-- name: list_waiting_thread_runs
-- The runs of a thread that wait. A separate statement, so that an index finds them in a long thread.
select {run} from runs r
 where r.thread_id = $5 and r.status = 'waiting' and r.owner = $1 and r.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
   and ($3::text is null or r.agent = $3)
 order by r.id desc limit $4;

-- name: list_open_thread_runs
-- The runs of a thread that have not ended, oldest first. One statement, so that no change between two is missed.
select {run} from runs r
 where r.thread_id = $2 and r.owner = $1 and r.status in ('queued', 'running', 'waiting')
 order by r.id;

-- name: list_ended_runs
-- An owner's ended runs, last ended first.
select {run} from runs r
 where r.owner = $1 and r.finished_at is not null
   and (r.finished_at, r.id) < (coalesce($2::bigint, 9223372036854775807), coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
   and ($5::text is null or r.agent = $5) and ($6::text is null or r.status = $6)
 order by r.finished_at desc, r.id desc limit $4;

-- name: list_ended_thread_runs
-- The ended runs of a thread, last ended first. (`offset 0` makes the planner find the thread first. It would rather read
-- the ended runs of the owner in their order, until enough of them are of the thread.)
select {run} from (select r.* from runs r where r.thread_id = $7 offset 0) r
 where r.owner = $1 and r.finished_at is not null
   and (r.finished_at, r.id) < (coalesce($2::bigint, 9223372036854775807), coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
   and ($5::text is null or r.agent = $5) and ($6::text is null or r.status = $6)
 order by r.finished_at desc, r.id desc limit $4;

-- name: put_feedback
-- Store the feedback on a run, or replace it.
insert into feedback (run_id, value, comment, created_at)
select r.id, $2, $3, now_ms() from runs r where r.id = $1
    on conflict (run_id) do update set value = excluded.value, comment = excluded.comment, created_at = excluded.created_at
returning run_id, value, comment, created_at;

-- name: drop_feedback
-- Delete the feedback on a run.
delete from feedback where run_id = $1;

-- name: read_feedback
-- The feedback on these runs.
select run_id, value, comment, created_at from feedback where run_id = any($1::uuid[]);

-- name: find_run_ids
-- The ids of an owner's runs that start or end like this, newest first.
select id from runs
 where owner = $1 and (starts_with(id::text, $2::text) or right(id::text, length($2::text)) = $2::text)
 order by id desc limit $3;
