"""How a run is worked on: a worker claims it, a task runs its agent, a handle writes what the agent does."""
