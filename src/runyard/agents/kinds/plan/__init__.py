"""Plan agents: a list of nodes that run one after another.

`runner.py` runs the nodes and records their results; `node_context.py` is what a node function gets. The declarations
(`plan`, `Node`) are in `declared/`.
"""
