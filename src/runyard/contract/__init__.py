"""The agent HTTP contract (S2): its shapes, a client for agents that speak it, and a checker for those that say so."""
