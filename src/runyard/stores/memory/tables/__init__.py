"""The tables of the memory store that have their own rules."""
