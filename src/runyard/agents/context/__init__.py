"""What the code of an agent sees of its run: `Context`, steps and waits."""
