"""SQLite: one process, one file, one writer."""
