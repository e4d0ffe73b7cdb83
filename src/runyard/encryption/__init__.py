"""Content at rest: the cipher, the stores that seal content, sealed files, and the change of keys."""
