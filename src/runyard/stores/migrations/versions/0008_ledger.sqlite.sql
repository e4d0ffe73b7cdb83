-- The run ledger, and an index of passages that follows what they say.

create trigger passages_changed after update of content, tags on passages begin
  insert into passage_words (passage_words, rowid, content, tags) values ('delete', old.rowid, old.content, old.tags);
  insert into passage_words (rowid, content, tags) values (new.rowid, new.content, new.tags);
end;

-- What agents did in their mailboxes: written in the transaction of the events that it is made of.
create table run_steps (
  id             text    primary key,
  run_id         text    not null references runs (id) on delete cascade,
  step_number    integer not null,
  status         text    not null,
  model_id       text,
  input_tokens   integer not null,
  output_tokens  integer not null,
  usd            real    not null,
  created_at     integer not null,
  completed_at   integer
) strict;
create index run_steps_run on run_steps (run_id, step_number);

create table run_messages (
  id            text   primary key,
  run_id        text   not null references runs (id) on delete cascade,
  step_id       text   references run_steps (id) on delete cascade,
  message_type  text   not null,
  content       text,
  tool_name     text,
  tool_input    text,
  created_at    integer not null
) strict;
create index run_messages_run on run_messages (run_id, created_at);
create index run_messages_step on run_messages (step_id);
create index runs_of_agent on runs (agent, id) where face = 'channels';
