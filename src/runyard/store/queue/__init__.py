"""Protocols for the queue: posts become runs, and workers claim them."""
