alter table threads add column title text;
create function words_of(text) returns tsvector language sql immutable parallel safe as $$
  select to_tsvector('simple', regexp_replace(left($1, 100000), '[\u0001-/:-@\[-`{-\u007f]+', ' ', 'g'))
$$;
create index messages_words on messages using gin (words_of(text)) where left(text, 1) <> chr(64976);
