-- Deleting the row of an agent also deletes the child runs of its runs, and the messages that steered them.
create or replace function drop_agent_runs() returns trigger language plpgsql as $$
declare
  gone   uuid[];
  queues text[];
begin
  with recursive below as (
    select r.id, r.lane_key from runs r where r.agent = old.id and r.face = 'channels'
    union select c.id, c.lane_key from below b join runs c on c.parent_run_id = b.id)
  select array_agg(id), array_agg(distinct lane_key) into gone, queues from below;
  perform 1 from lanes where key = any(queues) order by key for update;
  delete from waits where run_id = any(gone);
  delete from steered_messages where run_id = any(gone);
  delete from run_outbox where run_id = any(gone);
  delete from run_events where run_id = any(gone);
  delete from feed where run_id = any(gone);
  delete from runs where id = any(gone);
  delete from lanes where key = any(queues);
  return null;
end $$;
