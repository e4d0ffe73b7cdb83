"""The state of a run, folded from its log, and what is made from it."""
