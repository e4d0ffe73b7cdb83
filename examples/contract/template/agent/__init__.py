"""An agent of the agent HTTP contract."""
