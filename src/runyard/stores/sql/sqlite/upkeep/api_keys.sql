-- fragment: api_key
id, owner, digest, scopes, label, created_at, expires_at, last_used_at, revoked_at

-- name: insert_api_key
-- Insert an API key.
insert into api_keys (id, owner, digest, scopes, label, created_at, expires_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: get_api_key
-- An API key, even if it is revoked or expired.
select {api_key} from api_keys where id = ?1;

-- name: list_api_keys
-- The keys of an owner, or of all owners, newest first.
select {api_key} from api_keys
 where (?1 is null or owner = ?1)
   and (?2 is null or (created_at, id) < (select k.created_at, k.id from api_keys k where k.id = ?2))
 order by created_at desc, id desc limit ?3;

-- name: revoke_api_key
-- Revoke a key; a second time keeps the first revocation time.
update api_keys set revoked_at = coalesce(revoked_at, now_ms()) where id = ?1 returning {api_key};

-- name: touch_api_keys
-- Record that keys are in use, except those recorded a moment ago.
update api_keys set last_used_at = now_ms()
 where id in (select value from json_each(?1)) and (last_used_at is null or last_used_at <= now_ms() - ?2);
