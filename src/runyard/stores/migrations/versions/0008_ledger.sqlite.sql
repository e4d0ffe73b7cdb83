-- The run ledger, and an index of passages that follows what they say.

create trigger passages_changed after update of content, tags on passages begin
  insert into passage_words (passage_words, rowid, content, tags) values ('delete', old.rowid, old.content, old.tags);
  insert into passage_words (rowid, content, tags) values (new.rowid, new.content, new.tags);
end;
