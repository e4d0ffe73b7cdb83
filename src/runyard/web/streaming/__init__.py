"""Streams of server-sent events: what is sent, how it is encoded, and how it is written to the connection."""
