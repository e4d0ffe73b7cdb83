"""LangGraph agents: a compiled graph that works inside a run.

`runner.py` and `langchain_tools.py` are imported without LangGraph. `graph_run.py` drives one execution.
`checkpointer.py` keeps the graph's checkpoints in the log of the run, and `graph_values.py` writes values as JSON.
`callbacks.py` gets the events of nodes and models; `node_steps.py`, `spoken_text.py` and `interrupts.py` turn it into
steps, text and questions. `recorded_tools.py` makes the calls of Runyard's tools in nodes. `fork_point.py` continues a
fork.
"""
