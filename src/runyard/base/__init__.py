"""The bottom of the import order: clock, ids, fields, frames of SSE, private files, JSON Schema."""
