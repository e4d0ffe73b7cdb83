-- fragment: wait
w.id, w.run_id, w.call_id, w.kind, w.name, w.input, w.state, w.answered_by, w.created_at, w.answered_at,
w.expires_at, w.target

-- name: insert_waits
-- Insert pending waits; a repeated insert changes nothing.
insert into waits (id, run_id, call_id, kind, name, input, created_at, expires_at, target)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    on conflict do nothing;

-- name: void_waits
-- Make the pending waits of ended runs void.
update waits set state = 'void' where run_id in (select value from json_each(?1)) and state = 'pending';

-- name: count_answered
-- How many of these waits have an answer.
select count(*) as n from waits where id in (select value from json_each(?1)) and state <> 'pending';

-- name: get_wait
-- One wait, of an owner or of any, with the lane of its run.
select {wait}, r.lane_key from waits w join runs r on r.id = w.run_id where (?1 is null or r.owner = ?1) and w.id = ?2;

-- name: list_waits
-- An owner's pending waits that a person or a client answers, newest first.
select {wait} from waits w join runs r on r.id = w.run_id
 where r.owner = ?1 and w.state = 'pending' and w.kind in ('tool', 'unknown_outcome', 'confirmation', 'question', 'client_tool')
   and (?2 is null or (w.created_at, w.id) < (select b.created_at, b.id from waits b where b.id = ?2))
   and (?4 is null or w.run_id = ?4)
 order by w.created_at desc, w.id desc limit ?3;

-- name: answer_wait
-- Record an answer, unless there is one.
update waits as w set state = ?2, answered_by = ?3, answered_at = now_ms() where w.id = ?1 and w.state = 'pending'
returning id, run_id, call_id, kind, name, input, state, answered_by, created_at, answered_at,
expires_at, target;

-- name: expired_waits
-- Pending waits past their deadline, with the owners and lanes of their runs, in the order of their deadlines.
select w.id, w.run_id, r.owner, r.lane_key from waits w join runs r on r.id = w.run_id
 where w.state = 'pending' and w.expires_at <= now_ms() order by w.expires_at, w.id limit ?1;

-- name: next_expiry
-- How many milliseconds remain until the next pending wait expires.
select min(expires_at) - now_ms() as due_in from waits where state = 'pending' and expires_at is not null;

-- name: ended_children
-- Child runs that have ended while another run waits for them, with the ids of the waits. With ?2 only that target.
select {run}, w.id as wait_id from waits w join runs r on r.id = substr(w.target, 5)
 where w.state = 'pending' and w.target is not null and w.kind = 'child' and r.finished_at is not null
   and (?2 is null or w.target = ?2)
 order by w.created_at, w.id limit ?1;

-- name: orphaned_children
-- Child runs that have not ended although their parent has. With ?2 only children of that run.
select {run} from runs r join runs p on p.id = r.parent_run_id
 where r.parent_run_id is not null and r.status in ('queued', 'running', 'waiting') and r.cancel_requested_at is null
   and p.finished_at is not null and (?2 is null or r.parent_run_id = ?2)
 order by r.id limit ?1;

-- name: keep_event
-- Keep a delivered event. A repeated id changes nothing.
insert into kept_events (owner, id, name, target, data, created_at, expires_at)
values (?1, ?2, ?3, ?4, ?5, now_ms(), now_ms() + ?6)
    on conflict do nothing returning id;

-- name: matched_events
-- Pending waits for which a kept event has arrived, each with the oldest one. With ?2 only waits of that target.
select {wait}, e.owner as event_owner, e.id as event_id, e.name as event_name, e.data as event_data,
       e.created_at as event_created_at, e.expires_at as event_expires_at
  from waits w join kept_events e on e.target = w.target and e.taken_at is null and e.expires_at > now_ms()
 where w.state = 'pending' and w.target is not null and w.kind = 'event' and (?2 is null or w.target = ?2)
   and not exists (select 1 from kept_events o where o.target = e.target and o.taken_at is null
                   and o.expires_at > now_ms() and (o.created_at, o.id) < (e.created_at, e.id))
 order by w.created_at, w.id limit ?1;

-- name: take_event
-- Mark a kept event as taken.
update kept_events set taken_at = now_ms() where owner = ?1 and id = ?2 and taken_at is null;

-- name: forget_events
-- Delete events that are too old to be delivered.
delete from kept_events where expires_at <= now_ms();

-- name: find_wait_ids
-- The ids of an owner's waits that start, also behind their prefix, or end like this, newest first.
select w.id from waits w join runs r on r.id = w.run_id
 where r.owner = ?1 and w.kind in ('tool', 'unknown_outcome', 'confirmation', 'question', 'client_tool')
   and (substr(w.id, 1, length(?2)) = ?2 or substr(w.id, instr(w.id, '_') + 1, length(?2)) = ?2 or substr(w.id, -length(?2)) = ?2)
 order by w.created_at desc, w.id desc limit ?3;
