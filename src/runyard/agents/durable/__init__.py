"""Durable execution: calls that a crash does not repeat.

`recorded.py` records the steps, tool calls and questions of a python agent; `tool_call.py` makes one tool call under
the rules that all kinds of agents share. `replay.py` holds the results and the text that a resumed execution already
has. `questions.py` asks people for approval, and `parking.py` stops the agent's tasks while the run waits for them.
`outcome.py` turns the end of an agent's task into a result or an error. `redaction_buffer.py` holds back text that may
become sensitive.
"""
