-- Rows of the log in the default partition are moved when the partition of their week is made.

-- Makes the partitions of this week and the next `ahead` weeks where they are missing. Attaching takes no lock that stops
-- readers or writers; the advisory lock keeps two pods from making the same one. Rows that a server with a wrong clock put
-- into the default partition are moved first.
create or replace function add_event_partitions(ahead integer) returns integer language plpgsql as $$
declare
  week  constant bigint := 7 * 24 * 3600 * 1000;
  first constant bigint := now_ms() / week;
  made  integer := 0;
  part  text;
  low   uuid;
  high  uuid;
begin
  for n in first .. first + ahead loop
    part := 'run_events_w' || n;
    continue when exists (select 1 from pg_class where relname = part and relnamespace = current_schema()::regnamespace);
    perform pg_advisory_xact_lock(hashtext('runyard.add_event_partitions'));
    continue when exists (select 1 from pg_class where relname = part and relnamespace = current_schema()::regnamespace);  -- a new snapshot: look again
    low := (lpad(to_hex(n * week), 12, '0') || repeat('0', 20))::uuid;
    high := (lpad(to_hex((n + 1) * week), 12, '0') || repeat('0', 20))::uuid;
    execute format('create table %I (like run_events including defaults)', part);
    if exists (select 1 from run_events_default where run_id >= low and run_id < high) then
      lock table run_events_default in access exclusive mode;
      execute format('with moved as (delete from run_events_default where run_id >= %L and run_id < %L returning *)'
                     ' insert into %I select * from moved', low, high, part);
    end if;
    execute format('alter table run_events attach partition %I for values from (%L) to (%L)', part, low, high);
    made := made + 1;
  end loop;
  return made;
end $$;
