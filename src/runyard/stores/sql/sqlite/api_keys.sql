-- fragment: api_key
id, owner, digest, scopes, label, created_at, expires_at, last_used_at, revoked_at

-- name: insert_api_key
-- Store a new key.
insert into api_keys (id, owner, digest, scopes, label, created_at, expires_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: get_api_key
-- One key, whatever became of it.
select {api_key} from api_keys where id = ?1;

-- name: list_api_keys
-- The keys of an owner, or all, newest first.
select {api_key} from api_keys
 where (?1 is null or owner = ?1)
   and (?2 is null or (created_at, id) < (select k.created_at, k.id from api_keys k where k.id = ?2))
 order by created_at desc, id desc limit ?3;

-- name: revoke_api_key
-- From now on, or since it was first revoked.
update api_keys set revoked_at = coalesce(revoked_at, now_ms()) where id = ?1 returning {api_key};

-- name: touch_api_keys
-- Keys that are in use, but for those of which it was noted a moment ago.
update api_keys set last_used_at = now_ms()
 where id in (select value from json_each(?1)) and (last_used_at is null or last_used_at <= now_ms() - ?2);
