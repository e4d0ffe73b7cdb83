"""Limits before the routes: connections, requests per second and key, open streams. Bodies: `web/body.py`."""
