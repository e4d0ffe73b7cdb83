-- The run ledger.

-- What agents did in their mailboxes: written in the transaction of the events that it is made of.
create table run_steps (
  id             uuid    primary key,
  run_id         uuid    not null references runs (id) on delete cascade,
  step_number    integer not null,
  status         text    not null,
  model_id       text,
  input_tokens   bigint  not null,
  output_tokens  bigint  not null,
  usd            double precision not null,
  created_at     bigint  not null,
  completed_at   bigint
);
create index run_steps_run on run_steps (run_id, step_number);

create table run_messages (
  id            uuid   primary key,
  run_id        uuid   not null references runs (id) on delete cascade,
  step_id       uuid   references run_steps (id) on delete cascade,
  message_type  text   not null,
  content       text,
  tool_name     text,
  tool_input    text,
  created_at    bigint not null
);
create index run_messages_run on run_messages (run_id, created_at);
create index run_messages_step on run_messages (step_id);
create index runs_of_agent on runs (agent, id) where face = 'channels';
