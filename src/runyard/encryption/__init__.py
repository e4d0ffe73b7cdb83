"""Encryption at rest: the cipher, the sealed columns, the sealed store, and sealed files."""
