create table removals (
  id          text    primary key,
  owner       text    not null,
  chat        text,
  removed_at  integer not null
) strict, without rowid;
create index removals_age on removals (removed_at, id);
