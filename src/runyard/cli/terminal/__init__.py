"""What commands print: styles, tables, ages and durations, and a run while it happens."""
