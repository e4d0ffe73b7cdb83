"""Declarations of users: agents of every kind, their settings and documents, and the app that holds them."""
