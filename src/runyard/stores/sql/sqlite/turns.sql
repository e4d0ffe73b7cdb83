-- name: release_next_run
-- These runs have left: who was held behind them is due after a pause. Behind one that never had its turn, the wait is
-- for whatever that one waited for.
update runs as n set
       after_run = case when r.held and r.due_at is null then r.after_run else n.after_run end,
       due_at = case when r.held and r.due_at is null then null else now_ms() + n.pause_ms end
  from runs r
 where r.id in (select value from json_each(?1)) and n.after_run = r.id and n.held and n.status = 'queued' and n.due_at is null;

-- name: due_runs
-- Runs that are held and whose turn has come.
select id, lane_key from runs where held and status = 'queued' and due_at <= now_ms() order by due_at limit ?1;

-- name: release_held_runs
-- It is their turn.
update runs set held = 0 where id in (select value from json_each(?1)) and held;

-- name: next_due
-- How long until the next turn comes.
select (select due_at from runs where held and status = 'queued' and due_at is not null order by due_at limit 1) - now_ms() as ms;

-- name: recover_held_runs
-- Those who wait for a run that has left, or is gone, and were not told.
update runs set due_at = now_ms()
 where held and status = 'queued' and due_at is null
   and not exists (select 1 from runs p where p.id = runs.after_run and p.status in ('queued', 'running'));
