"""The view of a run that an agent's code gets: `Context`, steps and waits."""
