-- Encryption: the keys that have sealed something here, each with a value that it sealed, to know it by.

create table encryption_keys (
  id          text   primary key,
  proof       bytea  not null,
  created_at  bigint not null
);
