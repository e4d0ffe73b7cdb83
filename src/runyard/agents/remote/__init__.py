"""Agents behind the HTTP agent contract."""
