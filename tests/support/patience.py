"""How long a test waits for what should happen at once, in seconds. It costs time only where something is broken, so it
is meant for the slowest machine, with all its cores taken."""

PATIENCE = 90.0
