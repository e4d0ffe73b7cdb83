"""Postgres: any number of processes on one database."""
