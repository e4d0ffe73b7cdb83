-- name: put_snapshot
-- Insert or replace the state of a run after an event that its log has.
insert into run_snapshots (run_id, kind, seq, data, saved_at)
select id, $2::text, $3::bigint, $4::bytea, now_ms() from runs where id = $1 and last_seq >= $3::bigint
    on conflict (run_id, kind, seq) do update set data = excluded.data, saved_at = excluded.saved_at;

-- name: get_snapshot
-- The newest state of a run at or before a seq.
select seq, data from run_snapshots where run_id = $1 and kind = $2 and seq <= $3 order by seq desc limit 1;

-- name: drop_sealed_snapshots
-- Delete the snapshots for which (their data starts with $1) equals $2; readers make them again from the log.
delete from run_snapshots where (substr(data, 1, length($1::bytea)) = $1) = $2 returning seq;
