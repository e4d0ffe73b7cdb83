alter table threads add column title text;
create view plain_messages as select rowid as no, text from messages where substr(text, 1, 1) <> char(64976);
create virtual table message_words using fts5 (
  text, content = 'plain_messages', content_rowid = 'no', tokenize = 'unicode61 remove_diacritics 0');
create trigger messages_in after insert on messages when substr(new.text, 1, 1) <> char(64976) begin
  insert into message_words (rowid, text) values (new.rowid, new.text);
end;
create trigger messages_out after delete on messages when substr(old.text, 1, 1) <> char(64976) begin
  insert into message_words (message_words, rowid, text) values ('delete', old.rowid, old.text);
end;
create trigger messages_changed_out after update of text on messages when substr(old.text, 1, 1) <> char(64976) begin
  insert into message_words (message_words, rowid, text) values ('delete', old.rowid, old.text);
end;
create trigger messages_changed_in after update of text on messages when substr(new.text, 1, 1) <> char(64976) begin
  insert into message_words (rowid, text) values (new.rowid, new.text);
end;
insert into message_words (message_words) values ('rebuild');
