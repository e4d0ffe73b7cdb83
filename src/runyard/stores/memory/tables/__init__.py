"""The tables of the memory store that have rules of their own."""
