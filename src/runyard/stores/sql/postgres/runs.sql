-- name: get_run
-- One run of an owner.
select {run} from runs r where r.owner = $1 and r.id = $2;

-- name: get_named_run
-- The run of an owner that a client gave this name.
select {run} from runs r where r.owner = $1 and r.external_id = $2;

-- name: list_runs
-- An owner's runs, newest first, by status, agent or thread.
select {run} from runs r
 where r.owner = $1 and ($2::uuid is null or r.id < $2) and ($3::text is null or r.status = $3)
   and ($4::text is null or r.agent = $4) and ($5::uuid is null or r.thread_id = $5)
 order by r.id desc limit $6;
