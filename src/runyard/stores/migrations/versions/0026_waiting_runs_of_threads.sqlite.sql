-- The waiting runs of a long thread are found by an index.
create index runs_thread_waiting on runs (thread_id, id) where status = 'waiting';
