-- name: unsaved_runs
-- Ended runs without a checkpoint, longest ended first.
select {run} from runs r
 where r.face = 'chats' and r.finished_at is not null and r.checkpoint_at is null order by r.finished_at limit $1;

-- name: mark_saved
-- Record that a run has a checkpoint, unless it was superseded since the checkpoint was made.
update runs set checkpoint_at = now_ms() where id = $1 and superseded_by is not distinct from $2::uuid returning id;

-- name: put_checkpoint
-- Insert or replace the checkpoint of a run.
insert into checkpoints (run_id, thread_id, data, saved_at) values ($1, $2, $3, now_ms())
    on conflict (run_id) do update set data = excluded.data, saved_at = excluded.saved_at;

-- name: read_checkpoints
-- The checkpoints of a thread, or one of them, oldest run first.
select run_id, data from checkpoints where thread_id = $1 and ($2::uuid is null or run_id = $2) order by run_id;

-- name: delete_thread_checkpoints
-- Delete the checkpoints of a thread's runs.
delete from checkpoints where thread_id = $1;
