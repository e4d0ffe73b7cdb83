"""The kinds of agents: a folder for each, with its runner (`*/runner.py`). `runners.py` has one line for each kind."""
