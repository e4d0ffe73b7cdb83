-- A run that starts and ends in a lane without a queue leaves ready_since null, so its updates write no index.
alter table lanes add column ready_since bigint generated always as
  (case when active_run is null and runnable > 0 then ready_at end) stored;
drop index lanes_ready;
create index lanes_ready on lanes (suspect, ready_since, key) where ready_since is not null;

-- Room in every page for a second version of its rows: the update of `state` after the end writes no index either.
alter table runs set (fillfactor = 50);
