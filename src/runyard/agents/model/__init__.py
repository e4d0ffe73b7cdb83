"""Agents that ask a language model.

`runner.py` starts the loop and parks it while it waits for people. `loop.py` asks the model, has its tool calls made
and repeats until there is an answer or a limit is reached. `prompt.py` builds the messages before the run's own;
`requested_calls.py` reads and checks the calls in a message; `tool_execution.py` makes them. `output_limit.py` stops an
answer that exceeds its token limit. `structured_answer.py` checks an answer against the schema of its agent.
"""
