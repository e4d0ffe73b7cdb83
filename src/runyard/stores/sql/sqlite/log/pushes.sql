-- name: put_push
-- Insert a push of a run, or replace its data and begin its attempts again.
insert into pushes (run_id, id, kind, data, seq, due_at, created_at)
select r.id, ?2, ?3, ?4, case when ?5 then r.last_seq else 0 end,
       case when ?5 and r.finished_at is not null then null else now_ms() end, now_ms()
  from runs r where r.id = ?1
    on conflict (run_id, id) do update set kind = excluded.kind, data = excluded.data, failures = 0, due_at =
       (select now_ms() from runs r where r.id = excluded.run_id and (r.finished_at is null or r.last_seq > pushes.seq))
returning run_id, id, kind, data, seq, failures, due_at, created_at;

-- name: list_pushes
-- The pushes of a run.
select run_id, id, kind, data, seq, failures, due_at, created_at from pushes where run_id = ?1 order by id;

-- name: drop_push
-- Delete a push.
delete from pushes where run_id = ?1 and id = ?2;

-- name: due_pushes
-- Whether any push has not ended, and whether one is due and has events to deliver, of all runs or of these.
select exists (select 1 from pushes where due_at is not null) as is_live,
       exists (select 1 from pushes p join runs r on r.id = p.run_id where p.due_at <= now_ms() and p.seq < r.last_seq
                  and (?1 is null or p.run_id in (select value from json_each(?1)))) as is_due;

-- name: claim_pushes
-- Claim pushes that are due and have events to deliver, first due first.
update pushes set due_at = now_ms() + ?2
 where (run_id, id) in (
   select p.run_id, p.id from pushes p join runs r on r.id = p.run_id
    where p.due_at <= now_ms() and p.seq < r.last_seq and (?3 is null or p.run_id in (select value from json_each(?3)))
    order by p.due_at, p.run_id, p.id limit ?1)
returning run_id, id, kind, data, seq, failures, due_at, created_at;

-- name: settle_push
-- Record the progress of a claimed push. The claim is its due time.
update pushes set seq = ?4, failures = ?5, due_at = now_ms() + ?6 where run_id = ?1 and id = ?2 and due_at = ?3
returning run_id, id, kind, data, seq, failures, due_at, created_at;
