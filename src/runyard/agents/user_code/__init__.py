"""Running code of a user (agents, tools, nodes) in the server's process without trusting it.

`current_call.py` gives a tool its run and its output stream through context variables. `run_in_thread.py` runs sync
functions in daemon threads. `containment.py` makes an agent's tasks end only their own run, never the event loop.
`frames.py` tells user code from Runyard's on a stack, for the watchdog. `tracebacks.py` formats an error for the
developer of the agent.
"""
