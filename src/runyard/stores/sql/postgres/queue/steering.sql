-- name: insert_steered
-- Insert messages for runs that are under way, with the data of a possible new run.
insert into steered_messages (message_id, run_id, seq, next_run_id, face, agent, id, ts, data, has_client_tools, created_at)
select * from unnest($1::text::uuid[], $2::text::uuid[], $3::text::bigint[], $4::text::uuid[], $5::text::text[], $6::text::text[],
                     $7::text::uuid[], $8::text::bigint[], $9::text::bytea[], $10::text::bool[], $11::text::bigint[]);

-- name: new_messages
-- The messages of a run that its agent has not taken, in order.
select {message} from steered_messages s join messages m on m.id = s.message_id
 where s.run_id = $1 and s.state = 'new' order by s.seq;

-- name: untaken_messages
-- What is needed to start runs for the messages that these runs leave, in order.
select s.message_id, s.run_id, s.next_run_id, s.face, s.agent, s.id, s.ts, s.data, s.has_client_tools, s.created_at
  from steered_messages s where s.run_id = any($1::uuid[]) and s.state = 'new'
 order by s.run_id, s.seq;

-- name: take_messages
-- Record that the agents of their runs took these messages.
update steered_messages set state = 'taken' where message_id = any($1::uuid[]) and state = 'new';

-- name: leave_messages
-- Record that these messages started new runs.
update steered_messages set state = 'left' where message_id = any($1::uuid[]) and state = 'new';

-- name: move_messages
-- Assign messages to the runs that answer them.
update messages m set run_id = s.run_id
  from unnest($1::text::uuid[], $2::text::uuid[]) as s (id, run_id) where m.id = s.id;

-- name: find_steered
-- The run that has a steered message whose post named this run, unless the message got that run.
select run_id from steered_messages where next_run_id = $1 and state <> 'left';

-- name: delete_thread_steered
-- Delete the steered messages of a thread's runs.
delete from steered_messages where run_id in (select id from runs where thread_id = $1);

-- name: drop_steered
-- Delete the steered messages of runs.
delete from steered_messages where run_id = any($1::uuid[]);

-- name: seals_of_steered
-- The next steered messages. Their data is null unless (it starts with $2) equals $3.
select message_id, next_run_id, id, case when (substr(data, 1, length($2::bytea)) = $2) = $3 then data end as data
  from steered_messages where message_id > $1 order by message_id limit $4;

-- name: swap_steered
-- Replace the data of steered messages, unless another transaction changed it.
update steered_messages t set data = s.new
  from unnest($1::text::uuid[], $2::text::bytea[], $3::text::bytea[]) as s (message_id, old, new)
 where t.message_id = s.message_id and t.data = s.old;
