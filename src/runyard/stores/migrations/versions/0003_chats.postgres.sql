-- Chats: forks, runs that nobody follows, approvals that expire, and checkpoints.

alter table threads add column forked_from uuid;
create index threads_forks on threads (forked_from) where forked_from is not null;

alter table runs add column detach_deadline bigint;
alter table runs add column checkpoint_at bigint;
create index runs_detach_due on runs (detach_deadline)
  where detach_deadline is not null and status in ('queued', 'running');
create index runs_unsaved on runs (finished_at)
  where face = 'chats' and finished_at is not null and checkpoint_at is null;

alter table approvals add column expires_at bigint;
create index approvals_expiry on approvals (expires_at) where state = 'pending' and expires_at is not null;

-- Copies of runs that have ended, in the words of the face that wants them. Derived: the log is the truth.
create table checkpoints (
  run_id     uuid    primary key,
  thread_id  uuid    not null,
  data       bytea   not null,
  saved_at   bigint  not null
);
create index checkpoints_thread on checkpoints (thread_id, run_id);
