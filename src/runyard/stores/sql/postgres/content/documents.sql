-- name: delete_documents
-- Delete all documents of a collection.
delete from documents where collection = $1;

-- name: insert_documents
-- Insert documents into a collection; another process may do the same.
insert into documents (collection, id, title, text)
select * from unnest($1::text::text[], $2::text::text[], $3::text::text[], $4::text::text[])
on conflict (collection, id) do update set title = excluded.title, text = excluded.text;

-- name: get_documents
-- Documents by their ids, from any collection.
select collection, id, title, text from documents where id = any($1::text[]) order by id, collection;

-- name: search_documents
-- The documents that contain any of the words, best first.
select d.id, d.title, d.text, ts_rank(d.words, q) as score
  from documents d, to_tsquery('english', $2) q
 where d.collection = $1 and d.words @@ q order by score desc, d.id limit $3;
