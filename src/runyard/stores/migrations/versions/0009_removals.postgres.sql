create table removals (
  id          uuid    primary key,
  owner       text    not null,
  chat        text,
  removed_at  bigint  not null
);
create index removals_age on removals (removed_at, id);
