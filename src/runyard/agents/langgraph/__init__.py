"""LangGraph agents: a compiled graph that works inside a run.

`runner.py` starts the graph and is the only module that is imported without LangGraph. `graph_run.py` drives one
execution, `checkpointer.py` keeps the graph's checkpoints in the log of the run (`graph_values.py` writes values as
JSON), `callbacks.py` hears what nodes and models do, `node_steps.py` and `spoken_text.py` turn it into steps and text,
`interrupts.py` into questions, and `tools.py` lets nodes call Runyard's tools.
"""
