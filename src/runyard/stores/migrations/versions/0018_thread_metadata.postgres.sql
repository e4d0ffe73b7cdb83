alter table threads add column metadata text;
