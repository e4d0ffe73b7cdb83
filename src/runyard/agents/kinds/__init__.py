"""The kinds of agents: a folder for each, with its `runner.py`. `runners.py` has one line for each kind."""
