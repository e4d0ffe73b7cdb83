-- API keys.

-- Who may come in. Of the secret of a key only a digest is kept; `last_used_at` is coarse.
create table api_keys (
  id            text    primary key,
  owner         text    not null,
  digest        text    not null,
  scopes        text    not null,
  label         text    not null,
  created_at    bigint  not null,
  expires_at    bigint,
  last_used_at  bigint,
  revoked_at    bigint
);
create index api_keys_age on api_keys (created_at, id);
