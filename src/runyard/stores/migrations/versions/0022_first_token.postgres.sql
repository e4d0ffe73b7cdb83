alter table runs add column first_token_ms bigint;
