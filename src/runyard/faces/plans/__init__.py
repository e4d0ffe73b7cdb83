"""The plans face (S4): runs of a plan, and their published events without any content."""
