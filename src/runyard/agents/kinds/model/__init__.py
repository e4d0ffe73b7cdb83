"""Agents that ask a language model.

`runner.py` starts the loop and parks it while it waits for people. `loop.py` asks the model, makes its tool calls and
repeats until there is an answer or a limit is reached. `window.py` keeps its messages within the tokens of a request,
with summaries of older ones (`summarizer.py`). `requested_calls.py` reads and checks the calls in a message;
`tool_execution.py` makes them. `output_limit.py` stops an answer that exceeds its token limit. `structured_answer.py`
checks an answer against the schema of its agent.
"""
