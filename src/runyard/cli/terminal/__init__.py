"""The output of commands: styles, tables, ages and durations, and a run while it happens."""
