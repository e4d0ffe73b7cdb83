"""Durable execution: calls that a crash does not repeat.

`recorded.py` records the steps, tool calls and questions of a python agent; `tool_call.py` makes one tool call under
the rules that all kinds of agents share. `replay.py` holds the results and the text that a resumed execution already
has. `attaching.py` stores files of a run.

`waits.py` requests waits and finds their answers, and `parking.py` stops the agent's tasks while the run waits.
`recorded_waits.py` has the waits that an agent function asks for: questions, child runs, timers and events.
`child_runs.py` starts a child run and waits for its end.

`outcome.py` turns the end of an agent's task into a result or an error. `redaction_buffer.py` holds back text that may
become sensitive.
"""
