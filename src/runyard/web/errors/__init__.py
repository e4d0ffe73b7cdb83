"""Errors on the wire: their JSON shape and status, and their place in the OpenAPI document."""
