-- Publication: a cursor for each run, and the state that the outbox moves.

alter table runs add column state text not null default 'started';

-- How far a run is published: every event below next_seq is. `open`: there may be more to publish, so the poll looks at
-- it; a run at rest (queued, waiting or ended) is closed by the outbox once all of it is published. `turn` rises whenever
-- somebody opens it again, so that a publisher who looked before that does not close it.
create table run_outbox (
  run_id      text    primary key,
  next_seq    integer not null default 1,
  open        integer not null default 1,
  turn        integer not null default 0,
  updated_at  integer not null
) strict, without rowid;
create index run_outbox_open on run_outbox (run_id) where open;

-- Each event with the time of its publication, null until then. (The cursor is all that is kept, so the time is that of
-- the run's latest publication.)
create view run_publication as
  select e.run_id, e.seq, e.id, e.ts, e.type, e.v, e.source, e.name, e.fn,
         case when e.seq < o.next_seq then o.updated_at end as published_at
    from run_events e join run_outbox o on o.run_id = e.run_id;

-- What ended before there was an outbox counts as published; the rest is found by the poll.
update runs set state = case status when 'canceled' then 'cancelled' else 'finished' end
 where status in ('done', 'error', 'canceled');
insert into run_outbox (run_id, next_seq, open, updated_at)
select id, case state when 'started' then 1 else last_seq + 1 end, state = 'started', coalesce(finished_at, created_at)
  from runs;
