"""Reading: what faces show of threads, runs and the installation.

`views.py` returns threads, messages, runs, approvals and the state of a run at any seq (a fold over its log).
`checkpoints.py` reads and writes copies of ended runs, which `runyard.checkpoints` makes. `overview.py` counts queues
and workers for operators and metrics. Nothing here decides anything: all of it reads the store when it is called, for
one owner at a time, except the overview, which covers the whole installation.
"""
