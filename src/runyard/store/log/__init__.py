"""Protocols for logs and what is read from them."""
