-- Send every message of a window in one statement.
select pg_notify($1, message) from unnest($2::text[]) as message
