-- The hot path of SQLite: a part at a time, fence, batch and status checked in the write. No row back: the part is for the
-- general way. (`coalesce`, because `is null` is always false in RETURNING on SQLite 3.40.)

-- name: append
-- A part that moves nothing.
update runs set last_seq = last_seq + ?4, last_batch = ?3, attempts = case when ?5 then 0 else attempts end
 where id = ?1 and fence = ?2 and last_batch = ?3 - 1 and status = 'running'
returning last_seq - ?4 as base, coalesce(cancel_requested_at, 0) > 0 as cancel;

-- name: append_and_finish
-- A part that ends its run; not if a cancel is requested and it ends otherwise, nor if an approval was asked for.
update runs set last_seq = last_seq + ?4, last_batch = ?3, attempts = case when ?5 then 0 else attempts end,
       status = ?6, stop_reason = ?7, error_code = ?8, error = ?9, usage = ?10, worker_id = null, finished_at = now_ms()
 where id = ?1 and fence = ?2 and last_batch = ?3 - 1 and status = 'running' and asked = 0
   and (cancel_requested_at is null or ?6 = 'canceled')
returning last_seq - ?4 as base, coalesce(cancel_requested_at, 0) > 0 as cancel;

-- name: free_lane
-- The run that ended leaves its lane.
update lanes set active_run = null, ready_at = now_ms() where key = ?1 and active_run = ?2
returning runnable > 0 as ready;

-- name: date_publication
-- When the events of a run up to a seq are published, if that is kept and they are not published yet.
insert into publications (run_id, upto, published_at)
select run_id, ?2, now_ms() from run_outbox where run_id = ?1 and dated and next_seq <= ?2;

-- name: advance_outbox
-- Publish a run up to a seq, never back; close it if it ended, or if it is at rest as it was in the given turn.
update run_outbox set next_seq = max(next_seq, ?2 + 1), updated_at = now_ms(),
       open = open and ?4 is null and turn is not ?3
 where run_id = ?1;

-- name: move_state
-- The end of this run is published.
update runs set state = ?2 where id = ?1 and state = 'started';
