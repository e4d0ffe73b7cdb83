-- name: overview
-- Counts over all owners. Each count stops at a limit, so that a long queue is not slow.
select (select count(*) from (select 1 from runs where status = 'queued' limit $1::int) q) as queued,
       (select count(*) from (select 1 from runs where status = 'running' limit $1::int) q) as running,
       (select count(*) from (select 1 from waits where state = 'pending' and kind in ('tool', 'unknown_outcome', 'confirmation') limit $1::int) q) as approvals,
       (select min(ready_at) from
         (select * from (select ready_since as ready_at from lanes where ready_since is not null and suspect = false
                          order by ready_since limit 1) a
          union all
          select * from (select ready_since as ready_at from lanes where ready_since is not null and suspect = true
                          order by ready_since limit 1) b) l) as ready_since,
       behind.runs as behind, behind.since as behind_since, now_ms() as now, pg_database_size(current_database()) as size,
       'PostgreSQL ' || current_setting('server_version') as version, (select max(age(backend_xmin)) from pg_stat_activity where datname = current_database()) as xmin_age
  from (select count(*) as runs, min(ts) as since from
         (select e.ts from run_outbox o join runs r on r.id = o.run_id
                           join run_events e on e.run_id = o.run_id and e.seq = o.next_seq
           where o.open and o.next_seq <= r.last_seq limit $1::int) u) behind;

-- name: clock
-- The database's clock, in milliseconds since 1970.
select now_ms() as now;
