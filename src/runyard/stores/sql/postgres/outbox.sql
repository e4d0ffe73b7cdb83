-- name: init_outbox
-- Nothing of these new runs is published yet.
insert into run_outbox (run_id, dated, updated_at)
select r.id, r.dated, now_ms() from unnest($1::text::uuid[], $2::text::bool[]) as r (id, dated);

-- name: reopen_outbox
-- Runs at rest that somebody moves on: whoever saw them at rest may not close them.
update run_outbox o set open = true, turn = o.turn + 1 from unnest($1::text::uuid[]) as r (id) where o.run_id = r.id;

-- name: unpublished
-- Runs whose log goes further than their cursor, or that are at rest and still open. What was published a moment ago is
-- left to whoever did that.
select o.run_id, o.next_seq, o.turn, r.last_seq, r.status from run_outbox o join runs r on r.id = o.run_id
 where o.open and (o.next_seq <= r.last_seq or r.status <> 'running') and o.updated_at <= now_ms() - $1::bigint
 order by o.updated_at limit $2;

-- name: delete_thread_outbox
-- The cursors of a thread's runs.
delete from run_outbox where run_id in (select id from runs where thread_id = $1);
