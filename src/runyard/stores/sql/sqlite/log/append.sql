-- The hot path on SQLite: one part at a time. The write checks fence, batch and status. A part without a returned row goes
-- through the general script. (`coalesce`, because `is null` is always false in RETURNING on SQLite 3.40.)

-- name: append
-- Write a part without a move.
update runs set last_seq = last_seq + ?4, last_batch = ?3, attempts = case when ?5 then 0 else attempts end
 where id = ?1 and fence = ?2 and last_batch = ?3 - 1 and status = 'running'
returning last_seq - ?4 as base, coalesce(cancel_requested_at, 0) > 0 as cancel, unread;

-- name: append_and_finish
-- Write a part that ends its run, unless a cancel is requested and it ends otherwise, a wait was requested, or a
-- message was not taken.
update runs set last_seq = last_seq + ?4, last_batch = ?3, attempts = case when ?5 then 0 else attempts end,
       status = ?6, stop_reason = ?7, error_code = ?8, error = ?9, usage = ?10, first_token_ms = ?11, worker_id = null,
       finished_at = now_ms()
 where id = ?1 and fence = ?2 and last_batch = ?3 - 1 and status = 'running' and asked = 0 and unread = 0
   and (cancel_requested_at is null or ?6 = 'canceled')
returning last_seq - ?4 as base, coalesce(cancel_requested_at, 0) > 0 as cancel, unread;

-- name: free_lane
-- Remove the ended run from its lane.
update lanes set active_run = null, ready_at = now_ms() where key = ?1 and active_run = ?2
returning runnable > 0 as ready;

-- name: date_publication
-- Record when the events of a run up to a seq are published, if the run is dated and they are new.
insert into publications (run_id, upto, published_at)
select run_id, ?2, now_ms() from run_outbox where run_id = ?1 and dated and next_seq <= ?2;

-- name: advance_outbox
-- Advance a cursor, never back; close it if the run ended, or is queued or waiting and its turn is unchanged.
update run_outbox set next_seq = max(next_seq, ?2 + 1), updated_at = now_ms(),
       open = open and ?4 is null and turn is not ?3
 where run_id = ?1;

-- name: move_state
-- Set the state of a run whose end is published.
update runs set state = ?2 where id = ?1 and state = 'started';
