-- Fills a database with copies of what the store itself wrote: a template of a few rows, cloned as often as wanted, in
-- sets. Clone n has every id n milliseconds earlier (ids are UUIDv7) and is otherwise the same row, so whatever a store
-- writes for a run, in whichever tables, its clones have too.

create schema template;

-- The present rows are the template. Rows that do not belong to runs are not cloned.
create function take_template() returns void language plpgsql as $$
declare
  name text;
begin
  for name in
    select relname from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not in ('alembic_version', 'workers', 'documents', 'idempotency_keys', 'agents', 'memory_blocks',
                           'shared_block_links', 'passages', 'feed', 'feed_head')
  loop
    execute format('create table template.%I as table public.%1$I', name);
  end loop;
end $$;

create function cloned(id uuid, n bigint) returns uuid language sql immutable strict parallel safe as $$
  select (lpad(to_hex(('x' || substr(hex, 1, 12))::bit(48)::bigint - n), 12, '0') || substr(hex, 13))::uuid
    from (select replace(id::text, '-', '') as hex) as spelled
$$;

create function cloned_lane(lane text, n bigint) returns text language sql immutable strict parallel safe as $$
  select split_part(lane, ':', 1) || ':' || cloned(split_part(lane, ':', 2)::uuid, n)
$$;

-- Clones first to last of every row, oldest first, as they would have come.
create function clone(first bigint, last bigint) returns void language plpgsql as $$
declare
  name   text;
  names  text;
  made   text;
begin
  for name in select relname from pg_class where relnamespace = 'template'::regnamespace and relkind = 'r' loop
    select string_agg(quote_ident(attname), ', ' order by attnum),
           string_agg(format(case when atttypid = 'uuid'::regtype then 'cloned(t.%I, n)'
                                  when attname in ('key', 'lane_key') then 'cloned_lane(t.%I, n)'
                                  when attname = 'ready_at' then 't.%I - n'
                                  else 't.%I' end, attname), ', ' order by attnum)
      into names, made
      from pg_attribute a where attrelid = format('template.%I', name)::regclass and attnum > 0
       and not exists (select 1 from pg_attribute g where g.attrelid = format('public.%I', name)::regclass
                                                      and g.attname = a.attname and g.attgenerated <> '');
    execute format('insert into public.%I (%s) select %s from generate_series(%s, %s, -1) n cross join template.%1$I t',
                   name, names, made, last, first);
  end loop;
end $$;
