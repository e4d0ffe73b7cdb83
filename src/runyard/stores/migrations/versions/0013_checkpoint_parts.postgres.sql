delete from checkpoints;
update runs set checkpoint_at = null where checkpoint_at is not null;
