-- name: init_outbox
-- Nothing of these new runs is published yet.
insert into run_outbox (run_id, updated_at) select r.id, now_ms() from unnest($1::text::uuid[]) as r (id);

-- name: reopen_outbox
-- Runs at rest that somebody moves on: whoever saw them at rest may not close them.
update run_outbox o set open = true, turn = o.turn + 1 from unnest($1::text::uuid[]) as r (id) where o.run_id = r.id;

-- name: unpublished
-- Runs whose log goes further than their cursor, or that are at rest and still open. What was published a moment ago is
-- left to whoever did that.
select o.run_id, o.next_seq, o.turn, r.last_seq, r.status from run_outbox o join runs r on r.id = o.run_id
 where o.open and (o.next_seq <= r.last_seq or r.status <> 'running') and o.updated_at <= now_ms() - $1::bigint
 order by o.updated_at limit $2;

-- name: advance_outbox
-- Publish runs up to a seq, never back; close those that ended, or that are at rest as they were in the given turn.
update run_outbox o set next_seq = greatest(o.next_seq, m.upto + 1), updated_at = now_ms(),
       open = o.open and m.state is null and o.turn is distinct from m.turn
  from unnest($1::text::uuid[], $2::text::bigint[], $3::text::int[], $4::text::text[]) as m (run_id, upto, turn, state)
 where o.run_id = m.run_id;

-- name: move_states
-- The end of these runs is published.
update runs r set state = m.state from unnest($1::text::uuid[], $2::text::text[]) as m (run_id, state)
 where r.id = m.run_id and r.state = 'started';

-- name: delete_thread_outbox
-- The cursors of a thread's runs.
delete from run_outbox where run_id in (select id from runs where thread_id = $1);
