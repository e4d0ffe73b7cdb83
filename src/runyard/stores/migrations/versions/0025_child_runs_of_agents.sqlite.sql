-- Deleting the row of an agent also deletes the child runs of its runs, and the messages that steered them.
drop trigger agents_deleted;
create trigger agents_deleted after delete on agents begin
  update runs set agent = old.id, face = 'channels' where id in (
    with recursive below as (
      select id from runs where agent = old.id and face = 'channels'
      union select c.id from below b join runs c on c.parent_run_id = b.id)
    select id from below);
  delete from waits where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from steered_messages where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from run_outbox where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from run_events where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from feed where run_id in (select id from runs where agent = old.id and face = 'channels');
  delete from lanes where key in (select lane_key from runs where agent = old.id and face = 'channels');
  delete from runs where agent = old.id and face = 'channels';
end;
