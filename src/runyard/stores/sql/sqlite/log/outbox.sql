-- name: init_outbox
-- Insert the cursors of new runs, before their first event.
insert into run_outbox (run_id, dated, updated_at) values (?1, ?2, now_ms());

-- name: reopen_outbox
-- Reopen the cursors of queued or waiting runs that change, so that no publisher closes them by an older turn.
update run_outbox set open = 1, turn = turn + 1 where run_id = ?1;

-- name: unpublished
-- Runs with unpublished events, or that are queued, waiting or ended and still open. Runs that were published a moment
-- ago are left to their publisher.
select o.run_id, o.next_seq, o.turn, r.last_seq, r.status from run_outbox o join runs r on r.id = o.run_id
 where o.open and (o.next_seq <= r.last_seq or r.status <> 'running') and o.updated_at <= now_ms() - ?1
 order by o.updated_at limit ?2;

-- name: delete_thread_outbox
-- Delete the cursors of a thread's runs.
delete from run_outbox where run_id in (select id from runs where thread_id = ?1);
