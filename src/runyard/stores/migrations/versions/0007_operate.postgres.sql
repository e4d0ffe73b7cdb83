-- Operate: how much of an owner waits is counted by an index of its own; old runs are dropped.

create index runs_queued_of on runs (owner) where status = 'queued';

-- What is kept, for a while, of runs that were dropped. `has_log`: their events still take room in a part of the log.
create table dropped_runs (
  id           uuid    primary key,
  owner        text    not null,
  external_id  text,
  agent        text    not null,
  status       text    not null,
  stop_reason  text,
  error_code   text,
  last_seq     bigint  not null,
  created_at   bigint  not null,
  finished_at  bigint  not null,
  dropped_at   bigint  not null,
  has_log      boolean not null
);
create index dropped_runs_age on dropped_runs (dropped_at);
create index dropped_runs_external on dropped_runs (owner, external_id) where external_id is not null;

-- Gives back the room of the log's parts that end before a time: a part with no run left goes as a whole, in an instant and
-- only if no reader stands in the way; from the others the logs of dropped runs are deleted, a few at a time.
create function drop_event_partitions(before bigint) returns integer language plpgsql as $$
declare
  week   constant bigint := 7 * 24 * 3600 * 1000;
  part   record;
  low    uuid;
  high   uuid;
  gone   uuid[];
  empty  text[] := '{}';
begin
  perform pg_advisory_xact_lock(hashtext('runyard.add_event_partitions'));
  for part in
    select c.relname, substr(c.relname, 13)::bigint as n from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'run_events'::regclass and c.relname ~ '^run_events_w[0-9]+$' order by 2
  loop
    exit when (part.n + 1) * week > before;
    low := (lpad(to_hex(part.n * week), 12, '0') || repeat('0', 20))::uuid;
    high := (lpad(to_hex((part.n + 1) * week), 12, '0') || repeat('0', 20))::uuid;
    if not exists (select 1 from runs where id >= low and id < high) then
      update dropped_runs set has_log = false where id >= low and id < high and has_log;
      empty := empty || part.relname::text;
    else
      select array_agg(id) into gone from
        (select id from dropped_runs where id >= low and id < high and has_log order by id limit 200) d;
      delete from run_events where run_id = any(gone);
      update dropped_runs set has_log = false where id = any(gone);
    end if;
  end loop;
  select array_agg(d.id) into gone from
    (select id from dropped_runs where has_log and exists
      (select 1 from run_events_default e where e.run_id = dropped_runs.id) order by id limit 200) d;
  delete from run_events_default where run_id = any(gone);
  update dropped_runs set has_log = false where id = any(gone);
  if cardinality(empty) > 0 then  -- last: from here to the commit nobody writes
    begin
      set local lock_timeout = '200ms';
      execute 'drop table ' || (select string_agg(quote_ident(name), ', ') from unnest(empty) as e (name));
    exception when lock_not_available then
      return 0;  -- a reader stands in the way: the next time
    end;
  end if;
  return cardinality(empty);
end $$;
