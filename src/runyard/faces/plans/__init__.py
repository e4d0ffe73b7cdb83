"""The plans face: runs of a plan, and their published events without content."""
