"""The choices of store: memory (unit tests), SQLite (one process), Postgres (any number of pods)."""
