"""Commands that keep an installation in order: schema, copies, checks and encryption."""
