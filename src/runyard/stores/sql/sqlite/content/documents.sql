-- name: delete_documents
-- Delete all documents of a collection.
delete from documents where collection = ?1;

-- name: insert_documents
-- Insert documents into a collection.
insert into documents (collection, id, title, text) values (?1, ?2, ?3, ?4);

-- name: get_documents
-- Documents by their ids, from any collection.
select collection, id, title, text from documents where id in (select value from json_each(?1)) order by id, collection;

-- name: search_documents
-- The documents that contain any of the words, best first.
select id, title, text, -rank as score from documents where documents match ?2 and collection = ?1 order by rank, id limit ?3;
